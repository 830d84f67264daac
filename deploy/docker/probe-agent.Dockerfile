# A probe agent. Build it from the top of the source tree:
#   docker build -f deploy/docker/probe-agent.Dockerfile -t parallax/probe-agent .
# The agent is the same single file that runs without containers.
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc tsconfig.json LICENSE ./
COPY scripts scripts
COPY packages packages
COPY probe-agent probe-agent
# Their manifests alone: the lock file names them.
COPY control-plane/package.json control-plane/package.json
COPY test/generated-client/package.json test/generated-client/package.json
RUN npm ci --no-audit --no-fund
# The architecture of this stage is that of the image; there is no build for another one.
RUN npm run build:agent -- --arch "$(node -p process.arch)" --out /out \
    && mv "/out/probe-agent-linux-$(node -p process.arch)" /out/probe-agent

FROM debian:bookworm-slim
LABEL org.opencontainers.image.title="Parallax probe agent" \
      org.opencontainers.image.description="Runs availability checks from one place for a Parallax control plane" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.licenses="Apache-2.0"
# fping sends pings and carries the one capability that they need, so that the agent itself has none. No other file may give its user
# more than it has: that is what lets the container run without no-new-privileges, under which fping could not have it either.
# (fping 5.1 hears no answers on the sockets that need no capability.)
RUN apt-get update \
    && apt-get install -y --no-install-recommends fping traceroute \
    && rm -rf /var/lib/apt/lists/* \
    && find / -xdev -type f -perm /6000 -exec chmod a-s {} + \
    && setcap cap_net_raw+ep /usr/bin/fping \
    && install -d -o 1000 -g 1000 -m 0700 /state
COPY --from=build /out/probe-agent /usr/local/bin/probe-agent
COPY --from=build /out/probe-agent-licenses.txt /usr/share/doc/probe-agent/licenses.txt
ENV PARALLAX_PROBE_STATE_DIR=/state
# By number, so that an orchestrator can see that it is not root.
USER 1000:1000
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=4 CMD ["probe-agent", "status"]
ENTRYPOINT ["probe-agent"]
CMD ["run"]
