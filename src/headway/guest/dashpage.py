"""The page that plays a video by dash.js: what it does, and what it tells of it.

Its video is a small one: Chromium does not notice that a picture is missing unless it is to be painted, and painting
costs the host time. Everything that the page tells goes through the binding ``TELL``, as JSON, at the moment it happens.
"""

TELL = "headwayTell"
"""Name of the function by which the page tells something."""
START = "headwayPlay"
"""Name of the function that starts the player, given `PlayerOrders`."""

PAGE = "<!doctype html><meta charset=utf-8><title>player</title>"

SCRIPT = r"""
window.headwayPlay = orders => {
  const video = document.createElement('video');
  video.style.width = '32px';
  document.body.append(video);
  const player = dashjs.MediaPlayer().create();
  const events = dashjs.MediaPlayer.events;
  const began = performance.now();
  const now = () => performance.now() - began;
  const unix_ms = performance.timeOrigin + began;
  // An MPD says when its source began in whole milliseconds.
  const source_ms = orders.behind_s === null ? null : Math.floor(unix_ms - orders.behind_s * 1000);
  const tell = (what, more) => headwayTell(JSON.stringify({what, at_ms: now(), ...more}));
  const rungOf = request => {
    const id = request.representation?.id ?? request.representationId;
    return orders.rungs.indexOf(id);
  };
  const ofSegment = request => ({
    rung: rungOf(request),
    number: request.index,
    from_s: request.startTime,
    length_s: request.duration,
    url: request.url,
  });
  const isMedia = request => request?.mediaType === 'video' && request.type === 'MediaSegment';
  let isOver = false;
  const end = (why, more) => {
    if (isOver) return;
    isOver = true;
    timings();
    let played_s = 0;
    for (let n = 0; n < video.played.length; n++) played_s += video.played.end(n) - video.played.start(n);
    tell('end', {why, played_s, place_s: video.currentTime, ...more});
  };
  const isQuic = entry => entry.nextHopProtocol === 'h3';
  const observer = new PerformanceObserver(list => list.getEntries().forEach(tellTiming));
  const tellTiming = entry => {
    if (entry.startTime < began) return;
    tell('resource', {
      url: entry.name,
      protocol: entry.nextHopProtocol,
      status: entry.responseStatus,
      start_ms: entry.startTime - began,
      connect_ms: (isQuic(entry) ? entry.connectEnd : entry.secureConnectionStart || entry.connectEnd) - began,
      secured_ms: entry.secureConnectionStart ? entry.connectEnd - began : null,
      first_byte_ms: entry.responseStart ? entry.responseStart - began : null,
      end_ms: entry.responseEnd - began,
      bytes: entry.encodedBodySize,
      is_cached: entry.transferSize < entry.encodedBodySize,
    });
  };
  const timings = () => observer.takeRecords().forEach(tellTiming);
  observer.observe({type: 'resource'});

  player.on(events.FRAGMENT_LOADING_STARTED, ({request}) => {
    if (!isMedia(request)) return;
    const believed = player.getAverageThroughput('video');
    tell('request', {
      ...ofSegment(request),
      buffer_s: player.getBufferLength('video') || 0,
      believed_kbit_s: Number.isFinite(believed) ? believed : null,
    });
  });
  player.on(events.FRAGMENT_LOADING_COMPLETED, ({request, error}) => {
    if (!isMedia(request)) return;
    tell('loaded', {...ofSegment(request), error: error ? String(error.message ?? error) : null});
  });
  player.on(events.FRAGMENT_LOADING_PROGRESS, ({request, response}) => {
    if (isMedia(request) && response) tell('chunk', {url: request.url, bytes: response.byteLength});
  });
  player.on(events.FRAGMENT_LOADING_ABANDONED, ({request}) => {
    if (isMedia(request)) tell('abandoned', ofSegment(request));
  });
  player.on(events.ERROR, ({error}) => end('error', {
    error: `${error?.message ?? error}`, code: error?.code ?? null,
  }));
  for (const name of ['playing', 'waiting', 'stalled', 'seeking', 'pause', 'ratechange']) {
    video.addEventListener(name, () => tell(name, {
      place_s: video.currentTime, state: video.readyState, rate: video.playbackRate,
    }));
  }
  video.addEventListener('ended', () => end('ended'));
  // dash.js may see the end sooner than the element, and then goes back to shortly before it.
  player.on(events.PLAYBACK_ENDED, () => end('ended'));
  video.addEventListener('error', () => end('error', {error: video.error?.message ?? '', code: video.error?.code}));
  setTimeout(() => end('left'), orders.watch_s * 1000);

  player.updateSettings(orders.settings);
  video.muted = true;
  const mpd = source_ms === null ? orders.mpd : orders.mpd.replace('BEGINS', `${source_ms}000000`);
  player.initialize(video, mpd, true);
  tell('begin', {
    version: dashjs.Version ?? player.getVersion(), unix_ms,
    source_ms: source_ms === null ? null : source_ms - unix_ms,
  });
};
"""
"""To be evaluated after dash.js."""
