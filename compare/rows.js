// What is measured. Message counts are for --scale 1. `prepare` runs before the clock and before the server's CPU time
// is read.
const { connect } = require('./postgres');
const { payload } = require('./payload');

const scaled = (count, scale, least) => Math.max(least, Math.round(count * scale));

async function fill(contestant, url, count, batch) {
  const sender = await contestant.producer(url);
  const part = contestant.oneConsumer && sender.mark ? batch : 1000;
  for (let left = count; left > 0; left -= part) {
    await sender.sendMany(Math.min(part, left));
    if (sender.mark) await sender.mark();
  }
  await sender.close();
}

const timed = async (work) => {
  const started = process.hrtime.bigint();
  await work();
  return Number(process.hrtime.bigint() - started) / 1e9;
};

const single = { title: 'enqueue, 1 at a time', unit: 'msg/s', needs: 'producer',
  async measure(contestant, url, scale) {
    const messages = scaled(3000, scale, 50);
    const sender = await contestant.producer(url);
    const seconds = await timed(async () => { for (let i = 0; i < messages; i++) await sender.send(); });
    await sender.close();
    return { messages, seconds };
  } };

const bulk = { title: 'enqueue, 1,000 at a time', unit: 'msg/s', needs: 'producer',
  async measure(contestant, url, scale) {
    const messages = Math.ceil(scaled(50000, scale, 1000) / 1000) * 1000;
    const sender = await contestant.producer(url);
    const seconds = await timed(async () => { for (let i = 0; i < messages; i += 1000) await sender.sendMany(1000); });
    await sender.close();
    return { messages, seconds };
  } };

// PgQ has one consumer and batches made by ticks: rows of many small claims are none for it.
const drain = (connections, batch, count) => ({
  title: `drain, ${connections} x ${batch.toLocaleString('en')}`, unit: 'msg/s', needs: 'drain',
  fits: (contestant) => !contestant.oneConsumer || batch >= 100 || contestant.store === 'sqlite',
  prepare: (contestant, url, scale) => fill(contestant, url, scaled(count, scale, connections * batch), batch),
  async measure(contestant, url, scale) {
    const messages = scaled(count, scale, connections * batch);
    return { messages, seconds: await contestant.drain(url, { connections, batch, messages }) };
  } });

// From the start of the transaction that enqueued, by the server's clock, to the handler; Boxcar's to the ack.
const latency = (rate, seconds) => ({ title: `latency at ${rate.toLocaleString('en')} a second`, unit: 'ms',
  needs: 'latency', lowerIsBetter: true,
  async measure(contestant, url, scale) {
    const { steadily } = require('./postgres');
    const messages = scaled(rate * seconds, scale, 100);
    const ms = [];
    let sending;
    await contestant.latency(url, { expected: messages, note: (value) => ms.push(value),
      onMessage: (created) => ms.push(performance.timeOrigin + performance.now() - created),
      steady: async (send) => { sending = await timed(() => steadily(rate, messages,
        () => send(payload))); } });
    ms.splice(0, Math.floor(ms.length / 10)); // connections open, plans are made
    ms.sort((a, b) => a - b);
    return { messages, seconds: sending, p50: ms[ms.length >> 1], p99: ms[Math.floor(ms.length * 0.99)],
      achieved: messages / sending };
  } });

const snapshot = { title: 'drain, 4 x 100, under a held snapshot', unit: 'msg/s', needs: 'drain',
  async measure(contestant, url, scale) {
    const messages = scaled(50000, scale, 1000);
    const holder = await connect(url);
    await holder.query('begin isolation level repeatable read; select pg_current_xact_id()');
    await fill(contestant, url, messages, 100);
    const seconds = await contestant.drain(url, { connections: 4, batch: 100, messages });
    await holder.end();
    return { messages, seconds };
  } };

const backlog = { title: 'drain, 4 x 100, a million waiting', unit: 'msg/s', needs: 'drain',
  prepare: (contestant, url, scale) => fill(contestant, url, scaled(1000000, scale, 5000), 100),
  async measure(contestant, url, scale) {
    const messages = scaled(20000, scale, 1000);
    return { messages, seconds: await contestant.drain(url, { connections: 4, batch: 100, messages }) };
  } };

// In PgQ the whole queue is in order.
const streams = { title: 'ordered streams, 1,000 x 10', unit: 'msg/s', needs: 'sendStreams',
  async prepare(contestant, url, scale) {
    await contestant.sendStreams(url, { streams: scaled(1000, scale, 50), each: 10 });
  },
  async measure(contestant, url, scale) {
    const messages = 10 * scaled(1000, scale, 50);
    const work = contestant.drainStreams ?? contestant.drain;
    return { messages, seconds: await work(url, { connections: 4, batch: 100, messages }) };
  } };

const fanIn = { title: 'fan-in, 10,000 steps, 4 x 100', unit: 'msg/s', needs: 'fanIn',
  prepare: (contestant, url, scale) =>
    (contestant.fanInFillsItself ? undefined : fill(contestant, url, scaled(10000, scale, 400), 100)),
  async measure(contestant, url, scale) {
    const steps = scaled(10000, scale, 400);
    return { messages: steps, seconds: await contestant.fanIn(url, { connections: 4, batch: 100, steps }) };
  } };

exports.postgres = {
  single, bulk, 'drain-4x1000': drain(4, 1000, 100000), 'drain-4x100': drain(4, 100, 50000),
  'drain-32x10': drain(32, 10, 20000), 'drain-32x1': drain(32, 1, 6000), 'latency-500': latency(500, 5),
  'latency-5000': latency(5000, 3), snapshot, backlog, streams, 'fan-in': fanIn,
};

exports.sqlite = {
  single, bulk, 'drain-1x1000': drain(1, 1000, 20000), 'drain-1x1': drain(1, 1, 6000),
};
