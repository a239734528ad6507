"""Packages of the wheel: `components/` and `assets/` are installed as `gleanvid_app`."""

from setuptools import find_packages, setup

app = find_packages(include=["components*"])
setup(
    packages=[
        *find_packages(include=["gleanvid*"]),
        *(name.replace("components", "gleanvid_app", 1) for name in app),
        "gleanvid_app.assets",
    ],
    package_dir={"gleanvid_app": "components", "gleanvid_app.assets": "assets"},
)
