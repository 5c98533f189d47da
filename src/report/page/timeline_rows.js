// The rows of the timeline: one for each place in which a document is read, one an agent.

const PHASES = [
  ['prefix', 'document computed'],
  ['document', 'waits for the document'],
  ['queue', 'waits for room'],
  ['prefill', 'own prompt'],
  ['decode', 'writes, a mark a token'],
  ['function', 'function'],
];

function phaseLabel(name) {
  const found = PHASES.find(([id]) => id === name);
  return found ? found[1].split(',')[0] : name;
}

function timelineRows(data) {
  const r = data.report;
  const documents = r.documents.flatMap((d, i) => readingsOf(d).map((reading, j) => ({
    kind: 'document', name: readingName(d, reading), span: data.timeline.readings[i][j], reading,
    note: known(reading.n_tokens) ? count(reading.n_tokens) + ' tok' : '',
    critical: r.summary.critical_path.includes('document:' + d.name),
    snapshot: d.readings.length > 1 ? reading.snapshot : d.snapshot,
  })));
  const agents = r.agents.map((agent, i) => ({
    kind: 'agent', name: agent.name, index: i, agent, ...data.timeline.agents[i],
    note: known(agent.usage.completion_tokens) ? count(agent.usage.completion_tokens) + ' tok' : '',
    critical: r.summary.critical_path.includes(agent.name),
  }));
  return [...documents, ...agents];
}

function rowEnds(row) {
  if (row.kind === 'document') return row.span ? [row.span[1], row.span[2]] : null;
  const n = row.phases.length;
  return n > 0 ? [row.phases[0][1], row.phases[n - 1][2]] : null;
}

// What the row says when a pointer is on it.
function rowStory(row, data) {
  const lines = [];
  if (row.kind === 'document') {
    const d = row.reading;
    lines.push(['tokens', count(d.n_tokens) + ', ' + count(d.computed_tokens) + ' computed here' +
        (d.restored_tokens > 0 ? ', ' + count(d.restored_tokens) + ' restored' : '')]);
    lines.push(['prefill', duration(d.prefill_ms)]);
    if (known(d.prefill_tokens_per_s)) lines.push(['speed', fixed(d.prefill_tokens_per_s, 0) + ' tok/s']);
    const about = {name: row.name, snapshot: row.snapshot};
    for (const text of snapshotTexts(about, data.report.documents.length > 1)) lines.push(['snapshot', text]);
    return lines;
  }
  const a = row.agent;
  const names = row.waits_for.map((i) => data.report.agents[i].name);
  if (names.length > 0 && row.phases.length > 0) {
    lines.push(['waited for ' + names.join(', '), duration(row.phases[0][1])]);
  }
  for (const [name, begin, end] of row.phases) lines.push([phaseLabel(name), duration(end - begin)]);
  if (row.preempted.length > 0) lines.push(['preempted', row.preempted.map(duration).join(', ')]);
  if (known(a.metrics.ttft_ms)) lines.push(['to the first token', duration(a.metrics.ttft_ms)]);
  if (known(a.metrics.tpot_ms)) lines.push(['per token', duration(a.metrics.tpot_ms)]);
  lines.push(['end', a.error ? a.error.message : a.skip_reason || endOf(a)]);
  return lines;
}

function phaseBar(g, name, begin, end) {
  const x = g.x(begin);
  const width = Math.max(1, g.x(end) - x);
  return svg('rect', {class: 'phase ' + name, x, y: g.bar, width, height: g.height, rx: Math.min(3, width / 2)});
}

// Marks that would fall on one pixel are one mark.
function tokenMarks(g, tokens) {
  let path = '';
  let last = -10;
  for (const t of tokens) {
    const x = g.x(t);
    if (x - last < 1.5) continue;
    last = x;
    path += 'M' + x.toFixed(1) + ' ' + (g.bar + 2.5) + 'v' + (g.height - 5);
  }
  return path ? svg('path', {class: 'token', d: path}) : null;
}

function endMark(g, row) {
  const [, end] = rowEnds(row);
  const x = g.x(end) + 8;
  const y = g.bar + g.height / 2;
  if (row.agent.status === 'failed') {
    return svg('path', {class: 'mark bad', d: `M${x - 3} ${y - 3}l6 6m0 -6l-6 6`});
  }
  if (row.agent.status !== 'finished') return svg('path', {class: 'mark odd', d: `M${x - 3} ${y}h6`});
  if (row.agent.truncated) return svg('path', {class: 'mark odd', d: `M${x} ${y - 4}v5m0 2v1.5`});
  return null;
}

function agentShapes(g, row) {
  if (row.phases.length === 0) {
    const why = row.agent.skip_reason || (row.agent.error ? row.agent.error.message : row.agent.status);
    return [svg('text', {class: 'never', x: g.x(0) + 4, y: g.bar + g.height - 3},
                shorten(why, g.width - g.x(0) - (g.labelX + 90), 6.6))];
  }
  const begin = row.phases[0][1];
  const out = [];
  if (row.waits_for.length > 0 && begin > 0) {
    const y = g.bar + g.height / 2;
    out.push(svg('path', {class: 'needs', d: `M${g.x(0)} ${y}H${g.x(begin)}`}));
  }
  for (const [name, from, to] of row.phases) out.push(phaseBar(g, name, from, to));
  out.push(tokenMarks(g, row.tokens));
  if (row.tokens.length > 0) {
    out.push(svg('circle', {class: 'first', cx: g.x(row.tokens[0]), cy: g.bar + g.height / 2, r: 3.6}));
  }
  for (const t of row.preempted) {
    const x = g.x(t);
    out.push(svg('path', {class: 'preempted', d: `M${x} ${g.bar + g.height - 4}l5 8h-10z`}));
  }
  out.push(endMark(g, row));
  return out;
}

// A reading whose prefill has no place in the picture.
function absentSpan(row) {
  const {source, restored_tokens} = row.reading;
  if (source === 'computed') return 'time not known';
  if (source !== 'restored' || !row.snapshot) return source;
  const file = restoredFile({source, snapshot: row.snapshot});
  return 'restored ' + plural(restored_tokens, 'token') +
      (file && known(file.ms) ? ' in ' + duration(file.ms) : '');
}

// `g`: x(ms), top of the row, its bar and height, width of the picture, label and note places.
function rowShapes(g, row) {
  const shapes = row.kind === 'agent' ? agentShapes(g, row) :
                 row.span             ? [phaseBar(g, 'prefix', row.span[1], row.span[2])] :
                 [svg('text', {class: 'never', x: g.x(0) + 4, y: g.bar + g.height - 3},
                      absentSpan(row))];
  const tone = row.kind === 'agent' ? toneOf(row.agent) : 'good';
  return [
    svg('rect', {class: 'ground', x: 0, y: g.top, width: g.width, height: g.rowHeight}),
    svg('text', {class: 'name ' + row.kind + (row.critical ? ' critical' : ''), x: g.labelX, y: g.labelY},
        shorten(row.name, g.labelRoom, row.critical ? 8.2 : 7.2), svg('title', {}, row.name)),
    svg('text', {class: 'note ' + tone, x: g.width - 4, y: g.labelY, 'text-anchor': 'end'}, row.note),
    ...shapes,
  ];
}
