# The control plane. Build it from the top of the source tree:
#   docker build -f deploy/docker/control-plane.Dockerfile -t parallax/control-plane .
FROM node:24-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages packages
COPY control-plane control-plane
# Their manifests alone: the lock file names them.
COPY probe-agent/package.json probe-agent/package.json
COPY test/generated-client/package.json test/generated-client/package.json
# Optional packages are the embedded PostgreSQL and a Node of their own, and both are images of their own here.
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund

FROM node:24-bookworm-slim
LABEL org.opencontainers.image.title="Parallax control plane" \
      org.opencontainers.image.description="Availability monitoring from several vantage points that agree before they speak" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.licenses="Apache-2.0"
ENV NODE_ENV=production \
    PARALLAX_DATA_DIR=/data
# A new volume takes owner and mode of the folder that it is mounted on. /secrets may be entered by the account of PostgreSQL, which
# reads its own password there.
RUN install -d -o node -g node -m 0700 /data /nats /tokens && install -d -o node -g node -m 0711 /secrets
# Owned by root, so that the process cannot change its own program.
COPY --from=packages /app /app
COPY LICENSE /app/LICENSE
# By number, so that an orchestrator can see that it is not root.
USER 1000:1000
EXPOSE 8080 9443 9444
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=6 CMD ["node", "-e", "fetch('http://127.0.0.1:8080/health/readiness').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/app/control-plane/src/main.ts"]
CMD ["serve"]
