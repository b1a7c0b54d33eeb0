// Boxcar on SQLite has no functions in SQL: its C API is measured, by boxcar-bench.
const { execFileSync } = require('child_process');

const ROWS = { single: 'single/c-1', bulk: 'bulk/c-1000', 'drain-1x1000': 'drain/1x1000', 'drain-1x1': 'drain/1x1' };

exports.title = 'Boxcar (C)';
exports.version = require('./boxcar').version;
exports.store = 'sqlite';
exports.install = async () => {};
exports.rows = Object.keys(ROWS);

exports.measure = async (path, row, scale) => {
  const output = execFileSync(process.env.BOXCAR_BENCH, ['--store', `sqlite:${path}`, '--only', ROWS[row], '--rounds', '1',
    '--scale', String(Math.max(scale, 0.1)), '-o', 'json'], { encoding: 'utf8' });
  return { rate: JSON.parse(output).figures[0].ours };
};
