// graphile-worker, with the batching that its page on performance recommends (local queue, batched completion).
const { run, makeWorkerUtils } = require('graphile-worker');
const { payload: body } = require('../payload');

const quiet = new (require('graphile-worker').Logger)(() => () => {});

exports.title = 'graphile-worker';
exports.version = async () => require('graphile-worker/package.json').version;

exports.install = async (url) => {
  const utils = await makeWorkerUtils({ connectionString: url, logger: quiet });
  await utils.migrate();
  await utils.release();
};

exports.producer = async (url, maxPoolSize = 1) => {
  const utils = await makeWorkerUtils({ connectionString: url, maxPoolSize, logger: quiet });
  return {
    send: (payload = body) => utils.addJob('task', payload),
    sendMany: (count, more = () => ({})) =>
      utils.addJobs(Array.from({ length: count }, (_, i) => ({ identifier: 'task', payload: body, ...more(i) }))),
    close: () => utils.release(),
  };
};

// With batches, 24 jobs at once or more and a connection more than jobs, as that page has it. Jobs of a named queue must not be
// fetched ahead: streams do without the local queue.
const settings = (url, connections, batch) => {
  const concurrentJobs = batch > 1 ? Math.max(24, connections) : connections;
  return { connectionString: url, concurrentJobs, maxPoolSize: concurrentJobs + 1,
    ...(batch > 1 ? { localQueue: { size: batch }, completeJobBatchDelay: 0, failJobBatchDelay: 0 } : {}) };
};

async function work(url, { connections, batch, goal, handle }) {
  let done = 0, reached;
  const all = new Promise((resolve) => { reached = resolve; });
  const started = process.hrtime.bigint();
  const runner = await run({
    preset: { worker: { ...settings(url, connections, batch), logger: quiet } }, noHandleSignals: true,
    taskList: { task: async (payload, { job }) => { if (handle) handle(job.created_at.getTime()); if (++done === goal) reached(); } },
  });
  return { all, started, stop: () => runner.stop() };
}

// To the end of the runner: only then all completions are stored.
async function drain(url, { connections, batch, messages }) {
  const { all, started, stop } = await work(url, { connections, batch, goal: messages });
  await all;
  await stop();
  return Number(process.hrtime.bigint() - started) / 1e9;
}
exports.drain = drain;

exports.sendStreams = async (url, { streams, each }) => {
  const sender = await exports.producer(url);
  for (let n = 0; n < each; n++)
    for (let first = 0; first < streams; first += 1000)
      await sender.sendMany(Math.min(1000, streams - first), (i) => ({ queueName: `stream-${first + i}` }));
  await sender.close();
};
exports.drainStreams = (url, { connections, messages }) => drain(url, { connections, batch: 1, messages });

// The page states its latency for the same settings, with a local queue of 500.
exports.latency = async (url, { steady, onMessage, expected }) => {
  const sender = await exports.producer(url, 8);
  const { all, stop } = await work(url, { connections: 4, batch: 500, goal: expected, handle: onMessage });
  await steady((payload) => sender.send(payload));
  await all;
  await stop();
  await sender.close();
};
