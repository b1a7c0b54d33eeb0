// pg-boss: fetch() and complete(); latency with work(), which polls every half second at the fastest.
const PgBoss = require('pg-boss');
const { drainLoop } = require('../postgres');
const { payload: body } = require('../payload');

exports.title = 'pg-boss';
exports.version = async () => require('pg-boss/package.json').version;

const open = async (url, max) => {
  const boss = new PgBoss({ connectionString: url, max, supervise: false, schedule: false });
  boss.on('error', (error) => { throw error; });
  await boss.start();
  return boss;
};
const close = (boss) => boss.stop({ graceful: false, wait: true });

exports.install = async (url) => {
  const boss = await open(url, 1);
  await boss.createQueue('queue');
  await close(boss);
};

exports.producer = async (url) => {
  const boss = await open(url, 1);
  return {
    send: (payload = body) => boss.send('queue', payload),
    sendMany: (count) => boss.insert(Array.from({ length: count }, () => ({ name: 'queue', data: body }))),
    close: () => close(boss),
  };
};

exports.drain = async (url, { connections, batch, messages }) => {
  const boss = await open(url, connections);
  const seconds = await drainLoop(Array(connections).fill(null), messages, async () => {
    const jobs = await boss.fetch('queue', { batchSize: batch });
    if (jobs.length > 0) await boss.complete('queue', jobs.map((job) => job.id));
    return jobs.length;
  });
  await close(boss);
  return seconds;
};

exports.latency = async (url, { steady, onMessage, expected }) => {
  const boss = await open(url, 8);
  let seen = 0, reached;
  const all = new Promise((resolve) => { reached = resolve; });
  await boss.work('queue', { pollingIntervalSeconds: 0.5, batchSize: 5000, includeMetadata: true }, async (jobs) => {
    jobs.forEach((job) => onMessage(job.createdOn.getTime()));
    if ((seen += jobs.length) >= expected) reached();
  });
  await steady((payload) => boss.send('queue', payload));
  await all;
  await close(boss);
};
