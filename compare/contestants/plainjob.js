// plainjob on SQLite, with better-sqlite3. It sets synchronous = NORMAL, so that a commit need not be on the disk when
// add() returns. Boxcar's commits are.
const Database = require('better-sqlite3');
const { payload: body } = require('../payload');

exports.title = 'plainjob';
exports.version = async () => require('plainjob/package.json').version;
exports.store = 'sqlite';

const open = async (path) => {
  const { better, defineQueue } = await import('plainjob');
  return defineQueue({ connection: better(new Database(path)), logger: { error() {}, warn() {}, info() {}, debug() {} } });
};

exports.install = async (path) => (await open(path)).close();

exports.producer = async (path) => {
  const queue = await open(path);
  return {
    send: async (payload = body) => queue.add('task', payload),
    sendMany: async (count) => queue.addMany('task', Array(count).fill(body)),
    close: async () => queue.close(),
  };
};

exports.drain = async (path, { messages }) => {
  const { defineWorker } = await import('plainjob');
  const queue = await open(path);
  const logger = { error() {}, warn() {}, info() {}, debug() {} };
  let done = 0, reached;
  const all = new Promise((resolve) => { reached = resolve; });
  const worker = defineWorker('task', async (job) => { JSON.parse(job.data); },
    { queue, logger, onCompleted: () => { if (++done === messages) reached(); } });
  const started = process.hrtime.bigint();
  worker.start();
  await all;
  const seconds = Number(process.hrtime.bigint() - started) / 1e9;
  await worker.stop();
  queue.close();
  return seconds;
};
exports.oneConsumer = true;
