#!/usr/bin/env python3
"""naive.py [--seconds N] [--rate N] [--seed N]: consumers as people write them, next to workers, on the PostgreSQL server in
BOXCAR_TEST_POSTGRES. $BOXCAR is the program.

Eight consumers with psycopg2, which begins a transaction by itself: claim, write the effects, sleep up to five seconds,
ack, commit. Some roll back instead, and some are killed. Two workers serve the same messages, a third of them in streams. Then
every message must be done, with one effect if a consumer has done it and none if a worker has.

After that the workers drain messages of another topic, in turn without consumers and next to consumers that sit in transactions in which
they have claimed. BX-001, BX-002, BX-030"""
import argparse
import json
import multiprocessing
import os
import random
import signal
import statistics
import subprocess
import sys
import time
import uuid

import psycopg2

URL = os.environ["BOXCAR_TEST_POSTGRES"]
PROGRAM = os.environ["BOXCAR"]
CONSUMERS = 8
WORKERS = 2
DRAINED = 300000
ROUNDS = 5
DONE = "select count(*) from boxcar.outbox where status = 'done'"


def number(query):
    with psycopg2.connect(URL) as conn, conn.cursor() as cursor:
        cursor.execute(query)
        return cursor.fetchone()[0]


def program(*arguments, **options):
    environment = dict(os.environ, BOXCAR_STORE=URL)
    return subprocess.run([PROGRAM, *arguments], env=environment, check=True, stdout=subprocess.DEVNULL, **options)


def consume(seed, topic):
    chance = random.Random(seed)
    owner = str(uuid.uuid4())
    conn = psycopg2.connect(URL)
    cursor = conn.cursor()
    while True:
        cursor.execute("select work_id from boxcar.outbox_claim(%s, '10 minutes', %s, %s)",
                       (owner, chance.randint(1, 10), [topic]))
        ids = [row[0] for row in cursor.fetchall()]
        for work_id in ids:
            cursor.execute("insert into effect (work_id, owner) values (%s, %s)", (work_id, owner))
        time.sleep(chance.uniform(0, 5) if ids else 0.1)
        if chance.random() < 0.1:
            conn.rollback()
            continue
        cursor.execute("select boxcar.outbox_ack(%s, %s)", (owner, ids))
        conn.commit()


class Crew:
    """The consumers; a killed one is replaced."""

    def __init__(self, chance, topic):
        self.chance, self.topic = chance, topic
        self.members = [self.hire() for _ in range(CONSUMERS)]
        self.kills = 0

    def hire(self):
        member = multiprocessing.Process(target=consume, args=(self.chance.random(), self.topic), daemon=True)
        member.start()
        return member

    def kill_one(self):
        place = self.chance.randrange(CONSUMERS)
        os.kill(self.members[place].pid, signal.SIGKILL)
        self.members[place].join()
        self.members[place] = self.hire()
        self.kills += 1

    def dismiss(self):
        for member in self.members:
            member.kill()
            member.join()

    def has_fallen(self):
        return any(not member.is_alive() for member in self.members)


def start_workers(topic, *arguments):
    environment = dict(os.environ, BOXCAR_STORE=URL)
    return [subprocess.Popen([PROGRAM, "worker", "--handler", f"{topic}=discard", "--batch-size", "500", *arguments], env=environment,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for _ in range(WORKERS)]


def stop(processes):
    for process in processes:
        process.terminate()
    return [process.wait() for process in processes]


def enqueue(topic, count, first=0, streams=False):
    lines = "".join(json.dumps({"topic": topic, "payload": str(i)} | ({"stream": f"s{i % 50}"} if streams and i % 3 == 0 else {}))
                    + "\n" for i in range(first, first + count))
    program("enqueue", "--batch", "-", input=lines.encode())


def wait_done(count, seconds):
    end = time.monotonic() + seconds
    while number(DONE) < count:
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def drain_rate(topic):
    """Messages a second, from the start of the workers to their end. Nothing asks the store meanwhile: counting what is done
    would take longer than the drain."""
    enqueue(topic, DRAINED)
    began = time.monotonic()
    workers = start_workers(topic, "--drain")
    if [worker.wait() for worker in workers] != [0] * WORKERS:
        sys.exit("naive: a worker that drains has failed")
    return DRAINED / (time.monotonic() - began)


def compare_rates(chance, topic):
    """The medians of rates without consumers and next to sitting ones, and the median of the ratios."""
    without, beside = [], []
    for _ in range(ROUNDS):
        without.append(drain_rate(topic))
        enqueue("t", CONSUMERS * 10)
        crew = Crew(chance, "t")
        time.sleep(1)   # until they sit in their claims
        beside.append(drain_rate(topic))
        crew.dismiss()
    return statistics.median(without), statistics.median(beside), statistics.median(b / w for b, w in zip(beside, without))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--rate", type=int, default=60, help="messages a second")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 31))
    options = parser.parse_args()
    chance = random.Random(options.seed)
    print(f"naive: --seconds {options.seconds} --rate {options.rate} --seed {options.seed}", flush=True)
    program("init")
    with psycopg2.connect(URL) as conn, conn.cursor() as cursor:
        cursor.execute("create table effect (work_id bigint not null, owner uuid not null)")
    failed = []

    def judge(what, fine):
        print(("ok: " if fine else "FAILED: ") + what, flush=True)
        if not fine:
            failed.append(what)

    base = number(DONE)
    crew = Crew(chance, "t")
    workers = start_workers("t")
    began = time.monotonic()
    sent = 0
    fell = False
    while time.monotonic() - began < options.seconds:
        enqueue("t", options.rate * 2, sent, streams=True)
        sent += options.rate * 2
        fell = fell or crew.has_fallen()
        time.sleep(max(0.0, sent / options.rate - (time.monotonic() - began)))
        if chance.random() < 0.2:
            crew.kill_one()
    drained = wait_done(base + sent, 120)
    statuses = stop(workers)
    crew.dismiss()
    print(f"naive: {sent} messages, {crew.kills} consumers killed, {number('select count(*) from effect')} done by the others", flush=True)
    judge("no consumer ended by itself, and the workers ended well", not fell and statuses == [0] * WORKERS)
    judge("every message is done", drained)
    judge("no effect happened twice", number("select count(*) - count(distinct work_id) from effect") == 0)
    judge("the consumer that has done a message has had its effect",
          number("select count(*) from effect e join boxcar.outbox o using (work_id) where o.processed_by <> e.owner::text") == 0)
    judge("no effect is missing", number(
        "select count(*) from boxcar.outbox o where o.topic = 't' and o.processed_by in (select owner::text from effect) "
        "and not exists (select from effect e where e.work_id = o.work_id)") == 0)
    judge("no attempt was charged", number("select count(*) from boxcar.outbox where retry_count > 0") == 0)
    judge("streams were handled in order", number("select count(*) from boxcar.stream_violation") == 0)
    judge("the audit finds nothing", number("select lost from boxcar.audit()") == 0)

    without, beside, ratio = compare_rates(chance, "drained")
    print(f"naive: {WORKERS} workers drain {without:,.0f} messages a second, next to {CONSUMERS} sitting consumers {beside:,.0f}: {ratio:.2f}")
    judge("sitting consumers do not slow the workers down", ratio >= 0.75)   # seen: 0.9 to 1.1
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
