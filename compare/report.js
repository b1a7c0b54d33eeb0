// Medians and spread, as an object and as a table.
const rows = require('./rows');

const median = (values) => {
  const sorted = [...values].sort((a, b) => a - b);
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
};
const perMessage = (figures, field) => {
  const values = figures.filter((f) => f.messages && f[field] !== null && f[field] !== undefined).map((f) => f[field] / f.messages);
  return values.length > 0 ? median(values) : null;
};

function cell(row, figures) {
  const values = figures.map((f) => (row.unit === 'ms' ? f.p50 : f.rate));
  const memory = figures.map((f) => f.clientMemory).filter(Boolean);
  return { value: median(values), lowest: Math.min(...values), highest: Math.max(...values),
    ...(row.unit === 'ms' ? { p99: median(figures.map((f) => f.p99)), achieved: median(figures.map((f) => f.achieved)) } : {}),
    wal: perMessage(figures, 'wal'), serverCpu: perMessage(figures, 'serverCpu'), clientCpu: perMessage(figures, 'clientCpu'),
    memory: memory.length > 0 ? median(memory) : null };
}

exports.summarize = ({ figures, ...about }) => {
  const cells = {};
  for (const { store, row, contestant } of figures) {
    const same = figures.filter((f) => f.store === store && f.row === row && f.contestant === contestant);
    ((cells[store] ??= {})[row] ??= {})[contestant] ??= cell(rows[store][row], same);
  }
  return { ...about, cells };
};

const number = (value) => (value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3));
exports.number = number;

function line(row, name, contestant, title, c) {
  const micro = (seconds) => (seconds === null ? '-' : number(seconds * 1e6));
  const p99 = c.p99 === undefined ? '' : ` p99 ${number(c.p99)}`;
  return [name.padEnd(14), title.padEnd(16), `${number(c.value)} ${row.unit}${p99}`.padEnd(26),
    `${number(c.lowest)}-${number(c.highest)}`.padEnd(18), (c.wal === null ? '-' : number(c.wal)).padStart(8),
    micro(c.serverCpu).padStart(10), micro(c.clientCpu).padStart(10),
    (c.memory === null ? '-' : number(c.memory / 2 ** 20)).padStart(9)].join(' ');
}

exports.table = (result) => {
  const lines = [`${'row'.padEnd(14)} ${''.padEnd(16)} ${'median'.padEnd(26)} ${'rounds'.padEnd(18)} ${'WAL B'.padStart(8)} `
    + `${'server us'.padStart(10)} ${'client us'.padStart(10)} ${'MiB'.padStart(9)}`];
  for (const [store, names] of Object.entries(result.cells))
    for (const [name, contestants] of Object.entries(names))
      for (const [contestant, c] of Object.entries(contestants))
        lines.push(line(rows[store][name], name, contestant, require(`./contestants/${contestant}`).title, c));
  lines.push('', 'WAL, CPU of the server and of the client process are per message; MiB is the peak of the client process.');
  return lines.join('\n');
};
