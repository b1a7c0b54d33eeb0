// Boxcar's SQL functions, called from Node as from any language; latency with the program `boxcar worker`.
const { execFileSync, spawn } = require('child_process');
const { randomUUID } = require('crypto');
const { senders, connect, connectMany, endAll, drainLoop } = require('../postgres');
const { payload: body, text, TOPIC } = require('../payload');

const program = process.env.BOXCAR_PROGRAM;

exports.title = 'Boxcar';
exports.version = async () => execFileSync(program, ['--version'], { encoding: 'utf8' }).split(/\s+/)[1];

exports.install = async (url) => {
  execFileSync(program, ['init'], { env: { ...process.env, BOXCAR_STORE: url }, stdio: 'ignore' });
};

exports.producer = async (url) => {
  const client = await connect(url);
  return {
    send: (payload = text, stream = null) => client.query({ name: 'send',
      text: 'select work_id from boxcar.enqueue($1, $2, stream => $3)', values: [TOPIC, payload, stream] }),
    sendMany: (count, more = () => ({})) => client.query({ name: 'many',
      text: 'select count(*) from boxcar.enqueue_many($1::jsonb)',
      values: [JSON.stringify(Array.from({ length: count }, (_, i) => ({ topic: TOPIC, payload: body, ...more(i) })))] }),
    close: () => client.end(),
  };
};

// Each claim is the only statement of its transaction and says so (alone), as docs/sql.md recommends.
async function drain(url, { connections, batch, messages }) {
  const clients = await connectMany(url, connections);
  const owner = randomUUID();
  const seconds = await drainLoop(clients, messages, async (client) => {
    const { rows } = await client.query({ name: 'claim', text: `select work_id, epoch, topic, payload
      from boxcar.outbox_claim($1, '10 minutes', $2, alone => true)`, values: [owner, batch] });
    if (rows.length > 0)
      await client.query({ name: 'ack', text: 'select count(*) from boxcar.outbox_ack($1, $2::bigint[], $3::bigint[])',
        values: [owner, rows.map((row) => row.work_id), rows.map((row) => row.epoch)] });
    return rows.length;
  });
  await endAll(clients);
  return seconds;
}
exports.drain = drain;

exports.sendStreams = async (url, { streams, each }) => {
  const sender = await exports.producer(url);
  for (let n = 0; n < each; n++)
    for (let first = 0; first < streams; first += 1000)
      await sender.sendMany(Math.min(1000, streams - first), (i) => ({ stream: `stream-${first + i}` }));
  await sender.close();
};

// From enqueue to ack by the server's clock: the worker is a process of its own.
exports.latency = async (url, { steady, note, expected }) => {
  const sender = senders(url), client = await connect(url);
  const worker = spawn(program, ['worker', '--log-level', 'error', '--handler', `${TOPIC}=discard`],
    { env: { ...process.env, BOXCAR_STORE: url }, stdio: 'ignore' });
  const ended = new Promise((resolve) => worker.on('exit', resolve));
  await new Promise((resolve) => setTimeout(resolve, 1000));
  await steady((payload) => sender.query({ name: 'send', text: 'select work_id from boxcar.enqueue($1, $2)',
    values: [TOPIC, JSON.stringify(payload)] }));
  for (let i = 0; i < 600; i++) {
    const { rows } = await client.query('select count(*)::int as n from boxcar.outbox where is_processed');
    if (rows[0].n >= expected) break;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  worker.kill('SIGTERM');
  await ended;
  const { rows } = await client.query(`select extract(epoch from processed_at - created_at)::float8 * 1000 as ms
    from boxcar.outbox where is_processed order by work_id`);
  rows.forEach((row) => note(row.ms));
  await endAll([sender, client]);
};

exports.fanIn = async (url, { connections, batch, steps }) => {
  const client = await connect(url);
  const { rows: [{ id }] } = await client.query('select boxcar.join_start($1) as id', [steps]);
  await client.query(`select boxcar.join_wait($1, true, 'done', '')`, [id]);
  await client.end();
  const sender = await exports.producer(url);
  for (let first = 0; first < steps; first += 1000)
    await sender.sendMany(Math.min(1000, steps - first), () => ({ join_id: id }));
  await sender.close();
  return drain(url, { connections, batch, messages: steps });
};
exports.fanInFillsItself = true;
