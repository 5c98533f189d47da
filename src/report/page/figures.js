// Latencies with their spread, where the engine's time went, and the table of agents.

function latencyRows(data) {
  const r = data.report;
  const s = r.summary;
  const of = (name) => r.agents.map((a) => a.metrics[name]).filter(known);
  return [
    ['TTFT', 'time to first token, document included', s.ttft_ms, of('ttft_ms')],
    ['TPOT', 'time per output token of an agent', s.tpot_ms, of('tpot_ms')],
    ['ITL', 'gaps between tokens, all agents', s.itl_ms, data.gaps_ms],
    ['E2E', 'from submission to the last token', s.e2e_ms, of('e2e_ms')],
  ];
}

// Few values are dots; many are a curve of how often each occurs.
function spread(values, percentiles) {
  const width = 260, height = 30, top = Math.max(percentiles.max || 0, ...values.slice(-1), 1e-9);
  const x = (v) => 3 + (width - 6) * Math.min(1, v / top);
  const shapes = [svg('path', {class: 'grid', d: `M3 ${height - 5}H${width - 3}`})];
  if (values.length <= 60) {
    for (const v of values) shapes.push(svg('circle', {class: 'dot', cx: x(v), cy: height - 12, r: 3.2}));
  } else {
    const bins = new Array(65).fill(0);
    for (const v of values) ++bins[Math.min(64, Math.floor(64 * v / top))];
    const most = Math.max(...bins);
    let d = `M3 ${height - 5}`;
    bins.forEach((n, i) => {
      d += `L${(3 + (width - 6) * i / 64).toFixed(1)} ${(height - 5 - (height - 9) * n / most).toFixed(1)}`;
    });
    shapes.push(svg('path', {class: 'area', d: d + `L${width - 3} ${height - 5}Z`}));
  }
  for (const name of ['p50', 'p95']) {
    if (!known(percentiles[name])) continue;
    const at = x(percentiles[name]);
    shapes.push(svg('path', {class: 'quantile ' + name, d: `M${at} 3V${height - 5}`},
                    svg('title', {}, name + ' ' + duration(percentiles[name]))));
  }
  return svg('svg', {viewBox: `0 0 ${width} ${height}`, class: 'spread', role: 'img',
                     'aria-label': 'Spread from 0 to ' + duration(percentiles.max)}, shapes);
}

function drawLatency(data) {
  const s = data.report.summary;
  const head = ['', 'p50', 'p95', 'p99', 'max', 'from 0 to the longest'];
  const rows = latencyRows(data).map(([name, meaning, p, values]) => el('tr', {},
      el('th', {scope: 'row'}, el('abbr', {title: meaning}, name)),
      ['p50', 'p95', 'p99', 'max'].map((key) => el('td', {}, duration(p[key]))),
      el('td', {class: 'plot'}, spread(values, p))));
  fill(section('latency'), {}, [
    el('div', {class: 'scroll'}, el('table', {class: 'latency'},
        el('thead', {}, el('tr', {}, head.map((text) => el('th', {scope: 'col'}, text)))),
        el('tbody', {}, rows))),
    el('p', {class: 'muted'}, 'Nearest-rank percentiles of raw samples; p95 and p99 need 20 of them. The lines mark p50 and p95.' +
        (known(s.jitter) ? ' Jitter (p99 / p50 of the gaps): ' + fixed(s.jitter, 2) + '.' : '')),
    engineTime(s.engine_time_s),
  ]);
}

function engineTime(time) {
  const parts = [
    ['forward', 'forward', time.forward], ['sample', 'sampling', time.sample],
    ['other', 'other', (time.other || 0) + (time.fork || 0)], ['idle', 'idle', time.idle],
  ].filter(([, , value]) => value > 0);
  const whole = parts.reduce((sum, [, , value]) => sum + value, 0);
  if (!(whole > 0)) return null;
  let at = 0;
  const bars = parts.map(([id, , value]) => {
    const width = 100 * value / whole;
    at += width;
    return svg('rect', {class: 'time ' + id, x: at - width, y: 0, width, height: 6});
  });
  return [
    el('h3', {}, 'Where the engine\u2019s time went'),
    svg('svg', {class: 'reuse', viewBox: '0 0 100 6', preserveAspectRatio: 'none', role: 'img',
                'aria-label': 'Time of the engine'}, bars),
    el('div', {class: 'legend'}, parts.map(([id, label, value]) => el('span', {},
        el('i', {class: 'swatch time-' + id}), label + ' ' + percent(value, whole)))),
  ];
}

function agentCells(a) {
  const u = a.usage, m = a.metrics;
  const fresh = known(u.prompt_tokens) && known(u.cached_tokens) ? u.prompt_tokens - u.cached_tokens : null;
  return [
    count(fresh), count(u.cached_tokens), count(u.completion_tokens), seconds(m.ttft_ms),
    seconds(m.ttft_warm_ms), fixed(m.tpot_ms, 1), fixed(m.itl_ms.p95, 1), seconds(m.e2e_ms),
    fixed(m.output_tokens_per_s, 1),
  ];
}

function drawNumbers(report) {
  const head = ['agent', 'end', 'new prompt', 'cached', 'output', 'TTFT s', 'warm s', 'TPOT ms',
                'ITL p95 ms', 'E2E s', 'tok/s'];
  const rows = report.agents.map((a, i) => el('tr', {},
      el('th', {scope: 'row'}, el('a', {href: '#' + answerId(i)}, a.name)),
      el('td', {class: 'end ' + toneOf(a)}, endOf(a)),
      agentCells(a).map((text) => el('td', {}, text))));
  fill(section('numbers'), {}, [el('div', {class: 'scroll'}, el('table', {},
      el('thead', {}, el('tr', {}, head.map((text) => el('th', {scope: 'col'}, text)))),
      el('tbody', {}, rows)))]);
}
