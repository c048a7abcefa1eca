# The service in one image. `docker run -p 8000:8000 -v contacts:/data IMAGE` runs a whole instance; compose.yaml runs web,
# workers and scheduler in separate containers (docs/install.md). Two stages keep pip out of the final image.
ARG PYTHON=python:3.13.7-slim-bookworm@sha256:adafcc17694d715c905b4c7bebd96907a1fd5cf183395f0ebc4d3428bd22d92d

FROM ${PYTHON} AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
# `--build-arg REQUIREMENTS=tracing` also installs the packages for traces (docs/monitoring.md).
ARG REQUIREMENTS=run
COPY requirements/$REQUIREMENTS.txt /requirements.txt
# Wheels only, because the image has no compiler. http-ece has no wheel, but is pure Python.
RUN python -m venv --without-pip /packages && \
    python -m pip --python /packages/bin/python install --only-binary :all: --no-binary http-ece --require-hashes -r /requirements.txt
WORKDIR /app
COPY . .
# The service's user must be able to read all files here and may write none, whatever modes the checkout has. Bytecode is
# compiled before `check` (which compiles the translations), because manage.py sets a umask that would hide it from that user.
RUN chmod -R u=rwX,go=rX . && python -m compileall -q . && \
    DATA_DIR=/tmp/data /packages/bin/python manage.py check && rm -r /tmp/data requirements

FROM ${PYTHON}
# By default glibc keeps a separate memory arena per thread, and hardly returns any of them to the system.
ENV PATH=/packages/bin:$PATH PYTHONUNBUFFERED=1 MALLOC_ARENA_MAX=2 PYTHONMALLOC=malloc DATA_DIR=/data HOST=0.0.0.0 PORT=8000
# The official image lacks the bytecode of the standard library, so each process would compile what it imports.
RUN python -m pip uninstall --yes --quiet --root-user-action ignore pip && python -m compileall -q /usr/local/lib && \
    groupadd --gid 10001 contacts && useradd --uid 10001 --gid 10001 --no-create-home --no-log-init contacts && \
    mkdir /data && chown contacts:contacts /data
COPY --from=build /packages /packages
COPY --from=build /app /app
WORKDIR /app
USER 10001:10001
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s --retries=3 CMD ["python", "-c", \
    "import os, urllib.request as u; u.urlopen('http://127.0.0.1:' + os.environ['PORT'] + '/api/health', timeout=8)"]
CMD ["python", "manage.py", "serve"]
