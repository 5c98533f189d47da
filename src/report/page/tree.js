// The prefix tree: what was computed once stands left, as high as all that grew out of it; what
// each agent added stands in its row.

// Documents by the order in which agents read them; agents below the last one they read, and those
// that continue a conversation below the agent whose it is.
function buildTree(report) {
  const root = {documents: new Map(), agents: []};
  const nodes = report.agents.map((agent, index) => ({agent, index, followers: []}));
  const byName = new Map(nodes.map((node) => [node.agent.name, node]));
  for (const node of nodes) {
    const parent = node.agent.continues ? byName.get(node.agent.continues) : null;
    if (parent && parent !== node) {
      parent.followers.push(node);
      continue;
    }
    let at = root;
    for (const name of node.agent.kind === 'llm' ? node.agent.reads : []) {
      if (!at.documents.has(name)) {
        at.documents.set(name, {name, reader: node.agent.name, documents: new Map(), agents: []});
      }
      at = at.documents.get(name);
    }
    at.agents.push(node);
  }
  return root;
}

// Rows from top to bottom, blocks with the rows they span.
function layoutTree(root) {
  const rows = [], blocks = [], seen = new Set();
  let deepest = 0;
  const placeAgent = (node, depth, parent) => {
    if (seen.has(node)) return;
    seen.add(node);
    const row = rows.push({...node, depth, parent}) - 1;
    for (const follower of node.followers) placeAgent(follower, depth, row);
  };
  const place = (branch, depth) => {
    deepest = Math.max(deepest, depth);
    for (const child of branch.documents.values()) {
      const from = rows.length;
      place(child, depth + 1);
      blocks.push({name: child.name, reader: child.reader, depth, from, to: rows.length});
    }
    for (const node of branch.agents) placeAgent(node, depth, null);
  };
  place(root, 0);
  return {rows, blocks, deepest};
}

function ownTokens(agent) {
  const u = agent.usage;
  return {
    reused: u.cached_tokens || 0,
    prompt: known(u.prompt_tokens) ? Math.max(0, u.prompt_tokens - (u.cached_tokens || 0)) : 0,
    output: u.completion_tokens || 0,
  };
}

// How a reading of a document came into the cache.
function originOf(reading) {
  if (reading.restored_tokens > 0) {
    return (reading.computed_tokens > 0 ? count(reading.restored_tokens) + ' ' : '') + 'restored';
  }
  const times = reading.n_tokens > 0 ? reading.computed_tokens / reading.n_tokens : 0;
  return times === 0 ? 'not computed' : times <= 1 ? 'once' : fixed(times, 1) + ' times';
}

// A place in the tree is told by the first agent that reads the document there.
function readingAt(report, block) {
  const document = report.documents.find((d) => d.name === block.name);
  if (!document) return null;
  return document.readings.find((reading) => reading.reader === block.reader) || readingsOf(document)[0];
}

// A block that is one row high has room for two lines, and a narrow one for a few letters.
function blockLines(block, reading, width, height) {
  const name = shorten(block.name, width - 12, 7.4);
  if (!reading) return [name];
  const tokens = count(reading.n_tokens) + ' tok';
  if (height >= 52) return [name, tokens, originOf(reading)];
  return [name, width < 110 ? tokens : tokens + ', ' + originOf(reading)];
}

function blockShapes(g, block, report) {
  const x = block.depth * g.column, y = block.from * g.row + 3;
  const height = (block.to - block.from) * g.row - 6, width = g.column - 14;
  const reading = readingAt(report, block);
  const lines = blockLines(block, reading, width, height);
  const step = lines.length < 3 ? 14 : 16;
  const top = y + height / 2 - (lines.length - 1) * step / 2 + 4;
  return [
    svg('rect', {class: 'block', x, y, width, height, rx: 5}, svg('title', {}, reading ?
        block.name + ': ' + count(reading.n_tokens) + ' tok, ' + originOf(reading) : block.name)),
    ...lines.map((line, i) => svg('text', {class: i === 0 ? 'block-name' : 'block-note',
        x: x + width / 2, y: top + i * step, 'text-anchor': 'middle'},
        line)),
  ];
}

function branchLine(g, x1, y1, x2, y2) {
  const bend = (x2 - x1) / 2;
  return svg('path', {class: 'branch', d: `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`});
}

function rowText(agent, own, narrow) {
  if (agent.kind === 'function') return 'a function, no tokens';
  if (!known(agent.usage.prompt_tokens)) return agent.status;
  if (narrow) return count(own.reused) + ' + ' + count(own.prompt) + ' \u2192 ' + count(own.output);
  const parts = [count(own.reused) + ' reused', count(own.prompt) + ' new', count(own.output) + ' written'];
  if (known(agent.ready_after)) parts.push('sees the first ' + count(agent.ready_after));
  if (agent.continues) parts.push('goes on from ' + agent.continues);
  return parts.join(' \u00b7 ');
}

function treeRow(g, row, i) {
  const own = ownTokens(row.agent);
  const y = i * g.row;
  const middle = y + g.row / 2;
  const indent = row.parent !== null ? 16 : 0;
  const from = row.depth * g.column - 14, start = g.left + indent;
  const line = row.parent !== null ?
      svg('path', {class: 'branch', d: `M${g.left + 4} ${(row.parent + 1) * g.row - 6}V${middle}H${start}`}) :
      row.depth > 0 ? branchLine(g, from, middle, start, middle) : null;
  const scale = (n) => n * (g.width - start - 6) / g.most;
  const prompt = Math.max(own.prompt > 0 ? 2 : 0, scale(own.prompt));
  const output = Math.max(own.output > 0 ? 2 : 0, scale(own.output));
  return [
    line,
    svg('text', {class: 'name agent', x: start + 4, y: y + 16},
        shorten(row.agent.name, g.nameRoom, 7.2), svg('title', {}, row.agent.name)),
    svg('text', {class: 'note', x: g.width - 4, y: y + 16, 'text-anchor': 'end'},
        shorten(rowText(row.agent, own, g.width < 640), g.width - start - g.nameRoom - 12, 6.2)),
    svg('rect', {class: 'phase prefill', x: start + 4, y: y + 23, width: prompt, height: 8, rx: 2}),
    svg('rect', {class: 'written', x: start + 4 + prompt, y: y + 23, width: output, height: 8, rx: 2}),
  ];
}

function reuseBar(s) {
  const whole = Math.max(1, s.prompt_tokens);
  const bar = svg('svg', {class: 'reuse', viewBox: '0 0 100 6', preserveAspectRatio: 'none', role: 'img',
                          'aria-label': 'Computed and reused prompt tokens'},
      svg('rect', {class: 'phase prefix', x: 0, y: 0, width: 100 * s.prompt_tokens_computed / whole, height: 6}),
      svg('rect', {class: 'reused', x: 100 * s.prompt_tokens_computed / whole, y: 0,
                   width: 100 * s.prompt_tokens_reused / whole, height: 6}));
  return [
    el('p', {}, 'The agents asked for ', el('b', {}, count(s.prompt_tokens)), ' prompt tokens. ',
       el('b', {}, count(s.prompt_tokens_computed)), ' were computed, ',
       el('b', {}, count(s.prompt_tokens_reused)), ' reused (' +
           percent(s.prompt_tokens_reused, s.prompt_tokens) + ').'),
    bar,
    el('div', {class: 'legend'},
       el('span', {}, el('i', {class: 'swatch prefix'}), 'computed'),
       el('span', {}, el('i', {class: 'swatch reused'}), 'reused'),
       el('span', {}, el('i', {class: 'swatch prefill'}), 'own prompt'),
       el('span', {}, el('i', {class: 'swatch written'}), 'written')),
  ];
}

function drawTree(data) {
  const report = data.report;
  const {rows, blocks, deepest} = layoutTree(buildTree(report));
  const most = Math.max(1, ...report.agents.map((a) => ownTokens(a).prompt + ownTokens(a).output));
  const chart = el('div', {class: rows.length > MANY ? 'chart rows many' : 'chart'});
  fill(section('tree'), {}, [reuseBar(report.summary), chart]);
  drawn(chart, (width) => {
    const column = deepest === 0 ? 0 : Math.max(74, Math.min(170, width * 0.28 / deepest));
    const left = deepest * column + 8;
    const longest = Math.max(...rows.map((row) => row.agent.name.length), 4) * 7.4 + 12;
    const g = {column, left, width, most, row: 40, nameRoom: Math.min(longest, (width - left) * 0.45)};
    const next = svg('svg', {width, height: rows.length * g.row + 4, role: 'img', 'aria-label': 'Prefix tree'},
        blocks.map((block) => blockShapes(g, block, report)), rows.map((row, i) => treeRow(g, row, i)));
    chart.replaceChildren(next);
  });
}
