#!/bin/sh
# Installs Coverdesk as a server runs it: install.sh SOURCE TARGET makes the virtual environment TARGET from the checkout
# SOURCE. deploy/Dockerfile runs it, and so does `make image-check`, so that both have the same steps.
set -eu
source=$1
target=$2
python3 -m venv "$target"
python="$target/bin/python"
site=$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')

# Every package is checked against its hash; --no-deps, as the lock is complete.
"$python" -m pip install --quiet --no-cache-dir --no-compile --no-deps --require-hashes -r "$source/requirements.production.lock"
# With OTEL=1 also the extra `otel`, for COVERDESK_OTLP_URL; the lock of development has it, as few want it.
if [ -n "${OTEL:-}" ]; then
    awk '/^[a-z]/ { on = /^(opentelemetry-|googleapis-common-protos==)/ } on' "$source/requirements.lock" > "$target/otel.lock"
    "$python" -m pip install --quiet --no-cache-dir --no-compile --no-deps --require-hashes -r "$target/otel.lock"
    rm "$target/otel.lock"
fi
"$python" -m pip wheel --quiet --no-cache-dir --no-deps --wheel-dir "$target/wheel" "$source"
"$python" -m pip install --quiet --no-cache-dir --no-compile --no-deps "$target"/wheel/coverdesk-*.whl
rm -r "$target/wheel"
install -m 755 "$source/deploy/backup.sh" "$target/backup.sh"

# What no code of ours reaches: tests of the libraries, what compilers want, notebooks, clouds, other databases, translations
# of country names, places of phone numbers, diagrams. Two fifths of the size.
(
    cd "$site"
    rm -rf pyarrow/src pyarrow/*flight* pyarrow/*s3* pyarrow/*gcsfs* pyarrow/*azurefs* pyarrow/*hdfs* pyarrow/*orc.* \
        pyarrow/include numpy/_core/include lxml/includes lxml/isoschematron numpy/f2py numpy/distutils \
        pydeck/nbextension plotly/labextension plotly/package_data/*.js plotly/package_data/datasets plotly/matplotlylib \
        pycountry/locales phonenumbers/geodata phonenumbers/carrierdata altair streamlit/hello streamlit/.agents \
        sqlalchemy/dialects/mysql sqlalchemy/dialects/oracle sqlalchemy/dialects/mssql \
        PIL/_avif.*.so pillow.libs/libavif-* lxml/objectify.*.so sqlalchemy/testing fastapi_offline/static/redoc* \
        streamlit/static/static/js/DeckGl* streamlit/static/static/js/ECharts* streamlit/static/static/js/GraphViz* \
        streamlit/static/static/js/elk-* streamlit/static/static/js/*Diagram-* streamlit/static/static/js/cytoscape* \
        streamlit/static/static/js/swimlanes-* streamlit/static/static/js/embed.* \
        streamlit/testing alembic/testing pandas/plotting/_matplotlib \
        fontTools/qu2cu fontTools/cu2qu fontTools/ufoLib fontTools/voltLib fontTools/mtiLib fontTools/merge fontTools/t1Lib
    # Of the languages that could be coloured, a traceback is in Python.
    find pygments/lexers -name '*.py' ! -name '_*.py' ! -name python.py ! -name special.py -delete
    find . -type f \( -name '*.pyi' -o -name '*.pyx' -o -name '*.pxd' -o -name '*.pxi' -o -name '*.map' \
        -o -name '*.h' -o -name '*.hpp' -o -name '*.c' \
        -o -name '*.a' \) -delete
    # A library that a wheel holds three times, as it cannot hold links.
    for copy in pyarrow/libarrow_python.so pyarrow/libarrow_python.so.*.*.*; do
        ln -sf "$(basename "$(ls pyarrow/libarrow_python.so.????)")" "$copy"
    done
    find . -type d -name tests -prune -exec rm -rf {} +
    # Debug symbols. What a wheel brings in *.libs was patched by its maker and does not survive this.
    if command -v strip >/dev/null; then
        find . -name '*.so*' -type f -not -path '*.libs/*' -exec strip --strip-unneeded {} + 2>/dev/null || true
    fi
)
"$python" -m pip uninstall --quiet --yes pip setuptools
# The lists by which pip would uninstall the rest.
find "$site" -path '*.dist-info/RECORD' -delete

# Bytecode of what is used, as a server may not write it: every module of ours is imported once, and the screens' libraries.
cd "$target"
COVERDESK_DEMO=true "$python" - <<'PYTHON'
import importlib
import os
import pkgutil

import core

for module in pkgutil.walk_packages(core.__path__, "core."):
    if not module.name.startswith(("core.shipped", "core.store.schema.migrations")):
        importlib.import_module(module.name)
if os.environ.get("OTEL"):
    from core import telemetry

    telemetry.build_provider("http://127.0.0.1:4318").shutdown()
# And what the removal above could have broken, tried.
import pandas
import plotly.graph_objects
import plotly.tools
import streamlit.dataframe_util
import streamlit.web.bootstrap
import streamlit.web.server.starlette.starlette_app

table = pandas.DataFrame({"day": ["Mon", "Tue"], "premium": [1.5, 2.0]})
assert streamlit.dataframe_util.convert_pandas_df_to_arrow_bytes(table)
assert "premium" in plotly.graph_objects.Figure({"data": [{"type": "bar", "name": "premium", "y": [1.5, 2.0]}]}).to_json()
PYTHON
