#!/usr/bin/env python3
"""Starts Witness.java with the official Nacos client, which Maven downloads the first time: witness.py PORT SERVICE FOLDER"""
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from nacos_kind import Client, get_jars, program  # noqa: E402

port, service, folder = sys.argv[1:]
java = program("java", "default-jre-headless")
program("javac", "default-jdk-headless")  # java compiles the witness
os.execv(java, [java, "-Xmx128m", "-XX:TieredStopAtLevel=1", f"-Duser.home={folder}", f"-DJM.LOG.PATH={folder}",
                "-cp", f"{get_jars(Client)}/*", str(HERE / "Witness.java"), f"127.0.0.1:{port}", service])
