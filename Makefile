# The verbs of the repository; `make` alone prints them. Everything they do is in labkit/machine/.
.DEFAULT_GOAL := help
.PHONY: help setup play test lab site site-instructor bench bench-upstream test-minikube record figures kinds kubernetes wheels lock lint clean

PYTHON ?= python3
BIN := .venv/bin
SETUP := $(PYTHON) -m labkit.machine.setup

help: ## print this help
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' Makefile

setup: ## .venv, packages, kubectl and the control plane (the first time: about 8 minutes)
	@$(SETUP)

play: ## set up, then play the whole chapter on the embedded cluster
	@$(SETUP)
	@$(BIN)/labkit play --cluster embedded

test: ## set up, then all checks and tests
	@begun=$$(date +%s); $(SETUP) --dev && $(BIN)/python -m labkit.machine.verify --begun $$begun

lint: ## set up, then the checks that need no cluster
	@$(SETUP) --dev
	@$(BIN)/python -m labkit.machine.verify --lint

lab: ## JupyterLab on a working copy of the course, ./lab, with a cluster of its own
	@$(SETUP)
	@$(BIN)/labkit lab

site: ## the course pages for students, English and French: dist/site
	@$(SETUP) --site
	@$(BIN)/labkit site

site-instructor: ## the same with solutions: dist/site-instructor
	@$(SETUP) --site
	@$(BIN)/labkit site --instructor

record: ## authors: run the notebooks and write their outputs in place
	@$(SETUP) --dev
	@$(BIN)/labkit record

figures: ## authors: draw the figures that the notebooks show
	@$(SETUP) --dev --without-control-plane
	@$(BIN)/python -m labkit.machine.figures

kinds: ## authors: write the classes of the built-in kinds from what the control plane publishes
	@$(SETUP) --dev
	@$(BIN)/python -m labkit.machine.generate_k8s

bench: ## measure, and write the figures to bench-results/ and docs/bench.md
	@$(SETUP) --dev --bench
	@$(BIN)/python -m labkit.machine.bench

bench-upstream: ## measure against etcd and kube-apiserver as separate programs (builds them first)
	@$(SETUP) --dev
	@$(BIN)/python -m labkit.machine.bench.upstream

test-minikube: ## for a release: clusters' tests and the chapter on a real minikube, compared with the embedded
	@$(SETUP) --dev
	@LABKIT_TEST_MINIKUBE=1 $(BIN)/python -m pytest tests/cluster
	@mkdir -p build
	@$(BIN)/labkit play --cluster minikube --report build/played-minikube.json
	@$(BIN)/labkit play --cluster embedded --report build/played-embedded.json
	@$(BIN)/labkit parity build/played-embedded.json build/played-minikube.json

kubernetes: ## authors: move to another Kubernetes, and see what changes: make kubernetes VERSION=v1.36.3
	@$(SETUP) --lock --without-control-plane
	@$(BIN)/python -m labkit.machine.kubernetes $(VERSION)

wheels: ## what students install: dist/wheels, for all platforms; one: make wheels TARGETS=manylinux_x86_64
	@$(SETUP) --dev
	@$(BIN)/python -m labkit.machine.wheels $(TARGETS)

lock: ## renew requirements.lock from pyproject.toml
	@$(SETUP) --lock --without-control-plane
	@$(BIN)/python -m labkit.machine.lock

clean: ## remove what was built here (not ./lab, which is yours)
	rm -rf .venv build dist controlplane/bin bench-results
