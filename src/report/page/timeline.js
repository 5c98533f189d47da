// The timeline: an axis, the rows, who waited for whom, and how many decoded at once.

function timelineGeometry(rows, width) {
  const narrow = width < 640;
  const longest = Math.max(8, ...rows.map((row) => row.name.length));
  const label = narrow ? 0 : Math.min(200, longest * 7.4 + 22);
  const note = narrow ? 0 : 74;
  return {narrow, left: label + 6, right: width - note - 20, rowHeight: narrow ? 42 : 28, axis: 26};
}

function rowGeometry(layout, width, x, i) {
  const top = layout.axis + i * layout.rowHeight;
  const bar = top + (layout.narrow ? 21 : 7);
  return {
    x, width, top, bar, height: 14, rowHeight: layout.rowHeight, labelX: 4,
    labelY: layout.narrow ? top + 15 : bar + 11, labelRoom: layout.narrow ? width * 0.7 : layout.left - 12,
  };
}

// As a duration, but without digits that say nothing.
function tickText(t) {
  return duration(t).replace(/\.0+(?= )/, '').replace(/(\.\d)0(?= )/, '$1');
}

function axisShapes(layout, width, x, end, bottom) {
  const out = [];
  for (const t of steps(end, Math.max(2, Math.floor((layout.right - layout.left) / 90)))) {
    out.push(svg('path', {class: 'grid', d: `M${x(t)} ${layout.axis - 4}V${bottom}`}));
    const at = t === 0 ? {'text-anchor': 'start', x: layout.left} : {'text-anchor': 'middle', x: x(t)};
    out.push(svg('text', {class: 'tick', y: layout.axis - 11, ...at}, t === 0 ? '0' : tickText(t)));
  }
  return out;
}

// From the end of an answer to the agent that waited for it.
function needArrows(rows, layout, x, critical) {
  const place = new Map();
  rows.forEach((row, i) => row.kind === 'agent' && place.set(row.index, i));
  const middle = (i) => layout.axis + i * layout.rowHeight + (layout.narrow ? 28 : 14);
  const out = [];
  rows.forEach((row, i) => {
    if (row.kind !== 'agent' || row.phases.length === 0) return;
    for (const from of row.waits_for) {
      const source = rows[place.get(from)];
      if (source.phases.length === 0) continue;
      const x1 = x(rowEnds(source)[1]), y1 = middle(place.get(from));
      const x2 = x(rowEnds(row)[0]), y2 = middle(i);
      const bend = Math.max(12, Math.min(40, (x2 - x1) / 2));
      const d = `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2 - 1} ${y2}`;
      const on = critical.has(source.name + '\n' + row.name);
      out.push(svg('path', {
        class: 'arrow' + (on ? ' critical' : ''), d, 'data-from': from, 'data-to': row.index,
        'marker-end': on ? 'url(#tip-critical)' : 'url(#tip)',
      }));
    }
  });
  return out;
}

function decodingShapes(data, layout, x, end, top) {
  const most = Math.max(1, ...data.timeline.decoding.map(([, n]) => n));
  const height = 34;
  const y = (n) => top + height - n * (height - 4) / most;
  let path = `M${x(0)} ${y(0)}`;
  for (const [t, n] of data.timeline.decoding) path += `H${x(t).toFixed(1)}V${y(n).toFixed(1)}`;
  path += `H${x(end)}V${y(0)}Z`;
  return [
    svg('path', {class: 'area', d: path}),
    svg('path', {class: 'grid', d: `M${x(0)} ${y(0)}H${x(end)}`}),
    svg('text', {class: 'tick', x: layout.narrow ? x(0) + 2 : 4, y: layout.narrow ? top - 3 : top + 22},
        'decoding at once'),
    svg('text', {class: 'tick', x: x(end) + 6, y: y(most) + 8}, most),
  ];
}

function tipMarker(id) {
  return svg('marker', {id, viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 7, markerHeight: 7,
                        orient: 'auto', markerUnits: 'userSpaceOnUse'},
             svg('path', {class: id, d: 'M0 1L7 4L0 7Z'}));
}

function legend() {
  return el('div', {class: 'legend'}, PHASES.filter(([id]) => id !== 'function').map(
      ([id, label]) => el('span', {}, el('i', {class: 'swatch ' + id}), label)),
      el('span', {}, el('i', {class: 'swatch ring'}), 'first token'));
}

// A box that follows the pointer and tells the row's story.
function tipFor(chart) {
  const box = el('div', {class: 'tip', hidden: ''});
  chart.append(box);
  return {
    show(row, data, clientX, clientY) {
      box.replaceChildren(el('b', {}, row.name), el('dl', {}, rowStory(row, data).map(
          ([label, value]) => [el('dt', {}, label), el('dd', {}, value)])));
      box.hidden = false;
      const host = chart.getBoundingClientRect();
      const x = clientX - host.left + 14;
      const room = host.width - box.offsetWidth - 4;
      box.style.left = Math.max(0, Math.min(x, room)) + 'px';
      box.style.top = clientY - host.top + 16 + 'px';
    },
    hide() {
      box.hidden = true;
    },
  };
}

function criticalPairs(path) {
  return new Set(path.slice(1).map((name, i) => path[i] + '\n' + name));
}

function pathText(data) {
  const path = data.report.summary.critical_path;
  if (path.length === 0) return null;
  const parts = path.map((name, i) => {
    const ms = data.critical_path_ms[i];
    return name.replace(/^document:/, 'document ') + (known(ms) ? ' ' + duration(ms) : '');
  });
  return el('p', {class: 'path'}, el('b', {}, 'Critical path  '), parts.join('  \u203a  '));
}

function drawTimeline(data) {
  const host = section('timeline');
  const rows = timelineRows(data);
  const end = Math.max(1e-3, data.timeline.end_ms || 0);
  const chart = el('div', {class: 'chart'});
  fill(host, {}, [legend(), chart, pathText(data)]);
  const tip = tipFor(chart);
  const critical = criticalPairs(data.report.summary.critical_path);
  let picture = null;
  drawn(chart, (width) => {
    const layout = timelineGeometry(rows, width);
    const x = (t) => layout.left + Math.min(t, end) / end * (layout.right - layout.left);
    const bottom = layout.axis + rows.length * layout.rowHeight + 6;
    const height = bottom + (layout.narrow ? 56 : 44);
    const next = svg('svg', {width, height, role: 'img', 'aria-label': 'Timeline of the run'},
        svg('defs', {}, tipMarker('tip'), tipMarker('tip-critical')),
        axisShapes(layout, width, x, end, bottom), needArrows(rows, layout, x, critical));
    rows.forEach((row, i) => {
      const g = svg('g', {class: 'row', tabindex: 0, 'data-row': i},
                    rowShapes(rowGeometry(layout, width, x, i), row));
      const related = (on) => next.querySelectorAll(
          `.arrow[data-from="${row.index}"], .arrow[data-to="${row.index}"]`)
          .forEach((arrow) => arrow.classList.toggle('lit', on));
      const show = (at) => { related(true); tip.show(row, data, at.clientX, at.clientY); };
      g.addEventListener('pointermove', show);
      g.addEventListener('pointerleave', () => { related(false); tip.hide(); });
      g.addEventListener('focus', () => {
        const at = g.getBoundingClientRect();
        show({clientX: at.left + layout.left, clientY: at.top + 12});
      });
      g.addEventListener('blur', () => { related(false); tip.hide(); });
      if (row.kind === 'agent') g.addEventListener('click', () => openAnswer(row.index));
      next.append(g);
    });
    fill(next, {}, decodingShapes(data, layout, x, end, bottom + (layout.narrow ? 18 : 4)));
    if (picture) picture.remove();
    chart.prepend(next);
    picture = next;
  });
}
