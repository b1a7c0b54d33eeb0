#!/usr/bin/env python3
"""upgrade.py sqlite|postgres [--messages N] [--seed N]: an upgrade under running workers of both versions. $BOXCAR_OLD is the
program that makes the store, $BOXCAR the one that upgrades it. On PostgreSQL the server is BOXCAR_TEST_POSTGRES.

Two workers and two producers of the old program run. Once a third of their messages are in, `boxcar init` of the new program
upgrades the store in place. Then two workers and two producers of the new program join them, and all go on to the end. A third of the
messages are in streams, some have keys and are sent again by the other version, some are members of joins, and some fail once
or for good. Afterwards, counted by SQL and by what the handlers wrote down: nothing is lost, nothing is done twice, streams came in
order and one at a time, each join had its one continuation, the audit finds nothing, and no worker logged a warning that the
documents do not name. BX-001, BX-002, BX-006, BX-007, BX-027, BX-029"""
import argparse
import collections
import json
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

NEW, OLD = os.environ["BOXCAR"], os.environ["BOXCAR_OLD"]
SCHEMA = "storm_upgrade"
CHUNK = 25           # messages that one run of the program enqueues
STREAM_EACH = 20     # messages of a stream
JOIN_EACH = 25       # members of a join
PATIENCE = 900       # seconds without an end

# A topic each, so that a worker's log says what it was about. The payload is the name of the message.
HANDLER = """#!/bin/sh
read -r name || :
echo "start $BOXCAR_ATTEMPT $BOXCAR_TOPIC $name" >>"$1"
case $BOXCAR_TOPIC/$BOXCAR_ATTEMPT in
reject/*) exit 65 ;;
retry/1) exit 75 ;;
esac
echo "end $BOXCAR_ATTEMPT $BOXCAR_TOPIC $name" >>"$1"
"""

# What a worker may warn about: on SQLite one process writes at a time, and a machine that is busy keeps others out for long
# (docs/operations.md, "Who is in the way").
DOCUMENTED = re.compile(r"event=detached .*database is locked")


class Place:
    """The store, looked at with SQL and not through the program."""

    def __init__(self, kind, folder):
        self.kind, self.path = kind, os.path.join(folder, "store.db")
        self.url = os.environ["BOXCAR_TEST_POSTGRES"] if kind == "postgres" else f"sqlite:{self.path}"
        self.environment = dict(os.environ, BOXCAR_STORE=self.url, BOXCAR_SCHEMA=SCHEMA)

    def run(self, program, *arguments, **options):
        result = subprocess.run([program, *arguments], env=self.environment, text=True, stdout=subprocess.PIPE, **options)
        if result.returncode != 0:
            raise RuntimeError(f"{' '.join([program, *arguments])}: exit status {result.returncode}")
        return result.stdout

    def rows(self, query):
        """A query with {outbox} and so on for the names of views and tables."""
        prefix = f"{SCHEMA}." if self.kind == "postgres" else "boxcar_"
        query = re.sub(r"\{(\w+)\}", lambda match: prefix + match.group(1), query)
        if self.kind == "sqlite":
            connection = sqlite3.connect(self.path, timeout=60)
            try:
                return [tuple(map(str, row)) for row in connection.execute(query)]
            finally:
                connection.close()
        output = subprocess.run(["psql", "-XAtq", "-F", "\t", "-v", "ON_ERROR_STOP=1", self.url, "-c", query], check=True, text=True,
                                stdout=subprocess.PIPE).stdout
        return [tuple(line.split("\t")) for line in output.splitlines()]

    def number(self, query):
        return int(self.rows(query)[0][0])

    def remove(self):
        if self.kind == "postgres":
            subprocess.run(["psql", "-Xq", self.url, "-c", "set client_min_messages = error", "-c",
                            f"drop schema if exists {SCHEMA} cascade"], check=True)


class Plan:
    """What each producer sends: name of the message -> its object, in the order of sending."""

    def __init__(self, number, count, chance):
        self.number, self.sent = number, 0
        self.messages, self.keys, self.joins = [], [], {}
        streamed = kept = joined = 0
        for n in range(count):
            name = f"{number}-{n}"
            kind = n % 6
            message = {"topic": "plain", "payload": name}
            if kind < 2:
                key = f"s{number}-{streamed // (STREAM_EACH * 5)}-{streamed % 5}"   # five at a time, so that neighbours differ
                message.update(topic="stream", stream=key)
                streamed += 1
            elif kind == 2:
                message.update(topic="keyed", key=f"k-{name}", unique=chance.random() < 0.5)
                kept += 1
                self.keys.append(message)
            elif kind == 3:
                message.update(topic="member", join=joined // JOIN_EACH)
                self.joins.setdefault(joined // JOIN_EACH, 0)
                self.joins[joined // JOIN_EACH] += 1
                joined += 1
            elif chance.random() < 0.05:
                message["topic"] = chance.choice(["retry", "reject"])
            elif chance.random() < 0.1:
                message["delay"] = f"{chance.randint(100, 3000)}ms"
            self.messages.append(message)


class Producer(threading.Thread):
    def __init__(self, place, program, plan, others, chance):
        super().__init__(daemon=True)
        self.place, self.program, self.plan, self.others, self.chance = place, program, plan, others, chance
        self.join_ids, self.error, self.repeated = {}, None, 0

    def start_join(self, join):
        """The wait comes first or last; both ways round a join has one continuation."""
        name = f"{self.plan.number}-{join}"
        self.join_ids[join] = self.place.run(self.program, "join", "start", "--expected", str(self.plan.joins[join])).strip()
        self.place.run(self.program, "join", "wait", self.join_ids[join], "--on-complete", "continued", name)

    def lines(self, messages):
        for message in messages:
            message = dict(message)
            if "join" in message:
                if message["join"] not in self.join_ids:
                    self.start_join(message["join"])
                message["join_id"] = self.join_ids[message.pop("join")]
            yield json.dumps(message)

    def send(self, messages):
        self.place.run(self.program, "enqueue", "--batch", "-", input="".join(line + "\n" for line in self.lines(messages)))

    def repeat_a_key(self):
        """A message of another producer, maybe of the other version, comes again. Not a unique key: that may be free again."""
        known = [m for plan in self.others for m in plan.messages[:plan.sent] if m["topic"] == "keyed" and not m["unique"]]
        if known:
            message = self.chance.choice(known)
            answer = json.loads(self.place.run(self.program, "enqueue", "keyed", message["payload"], "--key", message["key"],
                                               "-o", "json"))
            if not answer["duplicate"]:
                raise RuntimeError(f"the key {message['key']} was not known any more")
            self.repeated += 1

    def run(self):
        try:
            messages = self.plan.messages
            for first in range(0, len(messages), CHUNK):
                self.send(messages[first:first + CHUNK])
                self.plan.sent = min(first + CHUNK, len(messages))
                if self.chance.random() < 0.3:
                    self.repeat_a_key()
        except Exception as error:   # the main thread says it
            self.error = error


class Worker:
    def __init__(self, place, program, number, folder):
        self.place, self.log = place, os.path.join(folder, f"worker-{number}.log")
        self.name = f"worker {number} ({'old' if program == OLD else 'new'})"
        handler = f"exec:{folder}/handler {folder}/evidence"
        self.process = subprocess.Popen(
            [program, "worker", "--handler", f"*={handler}", "--concurrency", "4", "--poll", "200ms", "--maintain", "2s",
             "--log-level", "info"],
            env=place.environment, stdin=subprocess.DEVNULL, stderr=open(self.log, "w"), stdout=subprocess.DEVNULL)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(90)
        return [] if status == 0 else [f"{self.name}: exit status {status}"]

    def is_documented(self, line):
        return self.place.kind == "sqlite" and DOCUMENTED.search(line) is not None

    def complaints(self):
        with open(self.log) as lines:
            found = [line.rstrip() for line in lines if re.search(r"level=(warn|error)", line)]
        # Handlers that fail are part of the plan.
        found = [line for line in found if not re.search(r"topic=(retry|reject)", line) and not self.is_documented(line)]
        return [f"{self.name} logged: {line}" for line in found[:5]]


def say(text):
    print(f"storm upgrade: {text}", flush=True)


def wait_until(condition, what, workers=(), producers=()):
    end = time.monotonic() + PATIENCE
    while not condition():
        for producer in producers:
            if producer.error:
                raise RuntimeError(f"a producer failed: {producer.error}")
        for worker in workers:
            if worker.process.poll() is not None:
                raise RuntimeError(f"{worker.name} ended with {worker.process.returncode}")
        if time.monotonic() > end:
            raise RuntimeError(f"not within {PATIENCE} seconds: {what}")
        time.sleep(0.2)


def read_evidence(folder):
    with open(os.path.join(folder, "evidence")) as lines:
        return [line.split() for line in lines]


def check_messages(place, plans, evidence):
    """Each message is stored once, has ended as planned, and was done once."""
    wrong = []
    expected = {m["payload"]: m["topic"] for plan in plans for m in plan.messages}
    stored = collections.Counter(row[0] for row in place.rows(
        "select payload from {outbox} where topic not in ('continued', 'join.wait')"))
    wrong += [f"{name} is stored {stored[name]} times" for name in expected if stored[name] != 1]
    wrong += [f"{name} is nobody's message" for name in stored if name not in expected]
    ended = dict(place.rows("select payload, status from {outbox} where topic not in ('continued', 'join.wait')"))
    for name, topic in expected.items():
        status = "failed" if topic == "reject" else "done"
        if ended.get(name) != status:
            wrong.append(f"{name} ({topic}) is {ended.get(name)} and not {status}")
    starts, ends = collections.Counter(), collections.Counter()
    for event, _, topic, name in evidence:
        if topic != "continued":
            (starts if event == "start" else ends)[name] += 1
    for name, topic in expected.items():
        if starts[name] != (2 if topic == "retry" else 1) or ends[name] != (topic != "reject"):
            wrong.append(f"{name} ({topic}) was started {starts[name]} times and done {ends[name]} times")
    return wrong


def check_streams(plans, evidence):
    """In order, and never two at a time."""
    wrong = []
    stream_of = {m["payload"]: m["stream"] for plan in plans for m in plan.messages if "stream" in m}
    planned = collections.defaultdict(list)
    for name, stream in stream_of.items():
        planned[stream].append(name)
    seen = collections.defaultdict(list)
    for event, _, topic, name in evidence:
        if topic == "stream":
            seen[stream_of[name]].append((event, name))
    for stream, names in planned.items():
        if seen[stream] != [(event, name) for name in names for event in ("start", "end")]:
            wrong.append(f"the stream {stream} came as {seen[stream]}")
    return wrong


def check_joins(place, plans, evidence):
    wrong = []
    expected = sorted(f"{plan.number}-{join}" for plan in plans for join in plan.joins)
    for event in ("start", "end"):
        came = sorted(name for e, _, topic, name in evidence if e == event and topic == "continued")
        if came != expected:
            wrong.append(f"{len(expected)} joins had {len(came)} continuations ({event})")
    wrong += [f"a join is {status}: {count}" for status, count in place.rows(
        "select status, count(*) from {outbox_join} where status <> 'completed' or completed_steps <> expected_steps group by 1")]
    return wrong


def check_audit(place):
    report = json.loads(subprocess.run([NEW, "doctor", "--audit", "-o", "json"], env=place.environment, text=True,
                                       stdout=subprocess.PIPE).stdout)
    return [f"audit: {line['text']}" for line in report if line["check"] == "audit" and line["severity"] != "ok"]


def trial(place, folder, count, chance):
    plans = [Plan(number, count // 4, chance) for number in range(4)]
    say(place.run(OLD, "init").strip() + f" ({place.kind})")
    old = [Worker(place, OLD, number, folder) for number in (0, 1)]
    workers = list(old)
    try:
        producers = [Producer(place, OLD, plans[i], plans, random.Random(chance.random())) for i in (0, 1)]
        for producer in producers:
            producer.start()
        third = 2 * (count // 4) // 3
        wait_until(lambda: plans[0].sent + plans[1].sent >= third, "a third of the first messages", workers, producers)
        started = time.monotonic()
        say(place.run(NEW, "init").strip() + f", in {time.monotonic() - started:.2f} s")
        workers += [Worker(place, NEW, number, folder) for number in (2, 3)]
        producers += [Producer(place, NEW, plans[i], plans, random.Random(chance.random())) for i in (2, 3)]
        for producer in producers[2:]:
            producer.start()
        wait_until(lambda: not any(p.is_alive() for p in producers), "all messages are sent", workers, producers)
        wait_until(lambda: place.number("select count(*) from {outbox} where status not in ('done', 'failed')") == 0,
                   "all messages have ended", workers, producers)
    finally:
        wrong = [line for worker in workers for line in worker.stop()]
    for producer in producers:
        if producer.error:
            wrong.append(f"a producer failed: {producer.error}")
    evidence = read_evidence(folder)
    wrong += check_messages(place, plans, evidence) + check_streams(plans, evidence) + check_joins(place, plans, evidence)
    wrong += check_audit(place) + [line for worker in workers for line in worker.complaints()]
    shares = collections.Counter()
    for processed_by, number in place.rows(
            "select processed_by, count(*) from {outbox} where status = 'done' and topic <> 'join.wait' group by 1"):
        shares[processed_by] = int(number)
    if len(shares) < 4 and count >= 1000:
        wrong.append(f"only {len(shares)} workers did anything")
    streamed = sum("stream" in m for plan in plans for m in plan.messages)
    say(f"{place.kind}: {4 * (count // 4)} messages, {streamed} of them in streams, {sum(len(p.keys) for p in plans)} with keys "
        f"({sum(p.repeated for p in producers)} sent again), {sum(len(p.joins) for p in plans)} joins; "
        f"done by each worker: {' '.join(str(n) for n in sorted(shares.values()))}")
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("store", choices=("sqlite", "postgres"))
    parser.add_argument("--messages", type=int, default=6000)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    given = parser.parse_args()
    say(f"--seed {given.seed}")
    folder = tempfile.mkdtemp(prefix="boxcar-upgrade.")
    with open(os.path.join(folder, "handler"), "w") as handler:
        handler.write(HANDLER)
    os.chmod(os.path.join(folder, "handler"), 0o755)
    open(os.path.join(folder, "evidence"), "w").close()
    place = Place(given.store, folder)
    place.remove()
    wrong = trial(place, folder, given.messages, random.Random(given.seed))
    for line in wrong[:20]:
        say(f"WRONG: {line}")
    if wrong:
        say(f"{len(wrong)} in all; the logs and what the handlers wrote down are in {folder}")
        sys.exit(1)
    place.remove()
    subprocess.run(["rm", "-rf", folder], check=True)


if __name__ == "__main__":
    main()
