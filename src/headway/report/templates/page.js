// What a page can do with a script and says without one, too: choose runs, read values, hide contenders.
(() => {
  "use strict";
  const all = (selector, of = document) => [...of.querySelectorAll(selector)];

  // Groups of runs: one at a time, chosen from a list; without this they are folded below each other.
  for (const group of all(".pairs")) {
    const pairs = all(":scope > details", group);
    if (pairs.length < 2) continue;
    const label = document.createElement("label");
    const choice = document.createElement("select");
    pairs.forEach((pair, place) => choice.add(new Option(pair.firstElementChild.textContent, place)));
    const show = () => pairs.forEach((pair, place) => {
      pair.hidden = place !== choice.selectedIndex;
      pair.open = !pair.hidden;
      pair.firstElementChild.hidden = true;
    });
    choice.addEventListener("change", show);
    label.append("Runs ", choice);
    group.prepend(label);
    // A link to a figure of another group shows that group.
    const follow = () => {
      const place = pairs.findIndex((pair) => location.hash && pair.querySelector(`[id="${location.hash.slice(1)}"]`));
      if (place >= 0) choice.selectedIndex = place;
      show();
    };
    addEventListener("hashchange", follow);
    follow();
  }

  // Values under the pointer: of the nearest dot, or of the lines of a plot.
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  document.body.append(tip);
  const numbers = (text) => text.match(/-?\d+(?:\.\d+)?(?:e[-+]\d+)?/g).map(Number);
  const kept = new WeakMap();
  const points = (path) => {
    if (!kept.has(path)) kept.set(path, path.getAttribute("d").split(/(?=M)/).map((run) => {
      const found = numbers(run.replace(/h0/g, ""));
      return found.flatMap((x, place) => place % 2 ? [] : [[x, found[place + 1]]]);
    }));
    return kept.get(path);
  };
  const value = ([start, end, low, high, log], at) => {
    const share = (at - start) / (end - start);
    return log ? low * (high / low) ** share : low + (high - low) * share;
  };
  const short = (number) => Number(number.toPrecision(3)).toString();
  const nearest = (svg, x, y) => {
    let best = ["", 12];
    for (const path of all("path[data-said]", svg)) {
      if (path.style.opacity) continue;
      const said = path.dataset.said.split("|");
      points(path).forEach((corners, place) => {
        const mean = (which) => corners.reduce((sum, corner) => sum + corner[which], 0) / corners.length;
        const away = Math.hypot(mean(0) - x, mean(1) - y);
        if (away < best[1]) best = [said[place], away];
      });
    }
    return best[0];
  };
  const read = (svg, x, y) => {
    const found = [];
    for (const path of all("path[data-read]", svg)) {
      const [name, horizontal, vertical] = path.dataset.read.split("|");
      const across = numbers(horizontal), up = numbers(vertical);
      if (x < across[0] || x > across[1] || y > up[0] || y < up[1]) continue;
      for (const run of points(path)) {
        const place = run.findIndex(([px]) => px >= x);
        if (place < 1) continue;
        const [[ax, ay], [bx, by]] = [run[place - 1], run[place]];
        const at = bx > ax ? ay + (by - ay) * (x - ax) / (bx - ax) : by;
        found.push([value(across, x), `${name}: ${short(value(up, at))}`]);
        break;
      }
    }
    return found.length ? [`at ${short(found[0][0])} s`, ...new Set(found.map(([, text]) => text))].join("\n") : "";
  };
  for (const svg of all("figure svg")) {
    if (!svg.querySelector("[data-said], [data-read]")) continue;
    svg.addEventListener("pointermove", (event) => {
      const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
      const said = nearest(svg, at.x, at.y) || read(svg, at.x, at.y);
      tip.hidden = !said;
      tip.textContent = said;
      tip.style.left = `${Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 4)}px`;
      tip.style.top = `${Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 4)}px`;
    });
    svg.addEventListener("pointerleave", () => { tip.hidden = true; });
  }

  // Contenders: a name in a legend pales what has its colour, and back.
  for (const name of all("svg [data-toggle]")) {
    const paint = name.dataset.toggle, svg = name.closest("svg");
    const toggle = () => {
      const off = name.getAttribute("aria-pressed") === "true";
      name.setAttribute("aria-pressed", String(!off));
      name.style.opacity = off ? 0.4 : "";
      for (const one of all(`[stroke="${paint}"], [fill="${paint}"]`, svg)) one.style.opacity = off ? 0.05 : "";
    };
    name.setAttribute("role", "button");
    name.setAttribute("tabindex", "0");
    name.setAttribute("aria-pressed", "true");
    name.addEventListener("click", toggle);
    name.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); toggle(); }
    });
  }
})();
