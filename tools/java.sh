#!/bin/sh
# Spark needs Java 17 or newer. Root on a Debian-like machine gets it installed; everybody else is told how.
# Never fails: without Java the Spark tests are skipped and say so.
set -u

enough() {
    version=$("${JAVA_HOME:+$JAVA_HOME/bin/}java" -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p' | head -n 1)
    [ "${version:-0}" -ge 17 ]
}

quietly() { DEBIAN_FRONTEND=noninteractive timeout 300 "$@" >/dev/null 2>&1; }

install() { quietly apt-get install -y --no-install-recommends "$1"; }

enough && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "Java 17 or newer is missing; installing it for the Spark tests" >&2
    quietly apt-get update
    install openjdk-17-jre-headless || install default-jre-headless
    enough && exit 0
fi
echo "No Java 17 or newer: the Spark tests are skipped. On Debian or Ubuntu:  apt-get install openjdk-17-jre-headless" >&2
exit 0
