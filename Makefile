# `make demo` and `make test` set up what they need.
.DEFAULT_GOAL := help
.PHONY: help setup demo test test-all test-lab faults fuzz bench bench-peer bench-grid docs lock

help:
	@echo "make demo    set up, then measure two emulated disks in four layouts (as root; about 4 minutes)"
	@echo "make test    set up, then run all tests except the slow ones (as root; about 10 minutes)"
	@echo "make test-all  set up, then run all tests except the lab tests (as root; about 30 minutes)"
	@echo "make test-lab  build the lab's images once (11 minutes), then run the tests that need a lab (80 minutes on a busy machine with two processors)"
	@echo "make faults  kill 200 runs, inject 14 other faults and print what they left (as root; 30 to 40 minutes)"
	@echo "make fuzz    look for inputs that cause a traceback (one minute; make fuzz SECONDS=600: ten minutes)"
	@echo "make bench   measure what poolproof itself costs"
	@echo "make bench-peer  measure the same twelve cells with bench-fio and with poolproof (as root; at least 20 minutes)"
	@echo "make bench-grid  measure the 657 cells of cache-and-log in a lab, unattended (at most 97 minutes)"
	@echo "make docs    regenerate the generated pages of docs/"
	@echo "make lock    regenerate the lock files from pyproject.toml"

setup:
	@scripts/setup run

demo: setup
	@.venv/bin/poolproof demo

test:
	@scripts/setup test
	@scripts/test

test-all:
	@scripts/setup test
	@scripts/test all

test-lab:
	@scripts/test-lab

faults:
	@scripts/setup test
	@.venv/bin/python -m tests.faults

fuzz:
	@scripts/setup test
	@scripts/fuzz $(SECONDS)

bench:
	@scripts/setup test
	@.venv/bin/python -m benchmarks

bench-peer:
	@scripts/setup test
	@.venv/bin/python -m benchmarks.bench_fio_peer

bench-grid:
	@scripts/setup test
	@.venv/bin/python -m benchmarks.bench_grid

docs:
	@scripts/setup test
	@scripts/docs

lock:
	@scripts/setup test
	@scripts/lock
