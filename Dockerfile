# Notarium's server. `scripts/docker-steps` runs the steps of the first stage where there is no Docker.
FROM node:24-trixie-slim AS page
WORKDIR /page
COPY clients/web .
RUN npm ci --no-audit --no-fund && npm run build

FROM rust:1.95-trixie AS build
WORKDIR /build
COPY . .
COPY --from=page /page/dist/page clients/web/dist/page
RUN scripts/docker-steps /out

FROM debian:trixie-slim
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates curl \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --create-home notarium \
    && install --directory --owner notarium --group notarium --mode 0700 /data
COPY --from=build /out/notarium /usr/local/bin/notarium
USER notarium
VOLUME /data
EXPOSE 8787 8788
HEALTHCHECK --interval=30s --timeout=3s --start-period=10s \
    CMD curl --fail --silent --output /dev/null http://127.0.0.1:8787/healthz
# Add `--allow-host NAME` for the name under which people reach it, and put a proxy with TLS in front.
ENTRYPOINT ["notarium"]
CMD ["serve", "--data", "/data", "--listen", "0.0.0.0:8787"]
