// Connections, and loops that several of them run at once.
const { Client, Pool } = require('pg');

async function connect(url) {
  const client = new Client({ connectionString: url });
  await client.connect();
  return client;
}

async function connectMany(url, count) {
  return Promise.all(Array.from({ length: count }, () => connect(url)));
}

// Those who send at a high rate need several.
const senders = (url) => new Pool({ connectionString: url, max: 8 });

async function endAll(clients) {
  await Promise.all(clients.map((client) => client.end()));
}

// Every connection calls take(client) until `goal` messages have come. take() returns how many it had.
async function drainLoop(clients, goal, take) {
  let done = 0;
  const one = async (client) => {
    while (done < goal) {
      const count = await take(client);
      done += count;
      if (count === 0 && done < goal) await new Promise((resolve) => setTimeout(resolve, 1));
    }
  };
  const started = process.hrtime.bigint();
  await Promise.all(clients.map(one));
  return Number(process.hrtime.bigint() - started) / 1e9;
}

// Calls `send` at a steady rate; late ones follow at once.
async function steadily(rate, count, send) {
  const started = Date.now();
  const waits = [];
  for (let i = 0; i < count; i++) {
    const wait = started + (i * 1000) / rate - Date.now();
    if (wait > 1) await new Promise((resolve) => setTimeout(resolve, wait));
    waits.push(send());
    if (waits.length >= 64) await Promise.all(waits.splice(0));
  }
  await Promise.all(waits);
}

module.exports = { senders, connect, connectMany, endAll, drainLoop, steadily };
