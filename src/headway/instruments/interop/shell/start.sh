#!/bin/sh
# start.sh COMMAND...: lays out the directories that the runner's contract promises, and runs an endpoint.
# /lab/run is the endpoint's directory of logs on the host.
if [ "$ROLE" = server ]; then
    rm -rf /www && ln -s /lab/www /www
else
    mkdir -p /lab/run/downloads
fi
[ -L /logs ] || rm -rf /logs
[ -L /downloads ] || rm -rf /downloads
ln -sfn /lab/run /logs
ln -sfn /lab/run/downloads /downloads
mkdir -p "$QLOGDIR"
# What images call before they begin: the lab's routes are there, and so is the server.
for stub in /setup.sh /wait-for-it.sh; do
    rm -f $stub && printf '#!/bin/sh\n' >$stub && chmod 755 $stub
done
# Engines give their containers as many files and as much locked memory as there may be.
ulimit -n "$(ulimit -H -n)"
"$@" &
child=$!
trap 'kill -TERM $child 2>/dev/null' TERM
wait $child
status=$?
while kill -0 $child 2>/dev/null; do
    wait $child
    status=$?
done
echo $status >/lab/run/exit-status
exit $status
