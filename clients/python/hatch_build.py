"""Puts the program into the wheel, if NOTARIUM_WHEEL_BINARY names it: `pip install` of that wheel is a whole Notarium.

The program is for glibc 2.28 and newer on x86-64, as the tag of the wheel says. Without the variable the wheel is the client alone.
"""

import os

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PLATFORM = "manylinux_2_28_x86_64"


class ProgramHook(BuildHookInterface):
    def initialize(self, version, build_data):
        binary = os.environ.get("NOTARIUM_WHEEL_BINARY")
        if binary and self.target_name == "wheel":
            build_data["shared_scripts"] = {binary: "notarium"}
            build_data["tag"] = f"py3-none-{PLATFORM}"
            build_data["pure_python"] = False
