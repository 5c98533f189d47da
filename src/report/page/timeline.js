// The timeline: an axis and how many decoded at once, and below it the rows and who waited for whom.
// Many rows are thinner and scroll.

const MANY = 40;

function timelineGeometry(rows, width) {
  const narrow = width < 640;
  const longest = Math.max(13, ...rows.map((row) => row.name.length));
  const label = narrow ? 0 : Math.min(200, longest * 7.4 + 22);
  const note = narrow ? 0 : 74;
  const height = rows.length > MANY ? 11 : 14;
  const rowHeight = narrow ? height + 28 : height * 2;
  return {narrow, left: label + 6, right: width - note - 20, height, rowHeight,
          bar: narrow ? 21 : height / 2};
}

function rowGeometry(layout, width, x, i) {
  const top = i * layout.rowHeight;
  const bar = top + layout.bar;
  return {
    x, width, top, bar, height: layout.height, rowHeight: layout.rowHeight, labelX: 4,
    labelY: layout.narrow ? top + 15 : bar + layout.height / 2 + 4, labelRoom: layout.narrow ? width * 0.7 : layout.left - 12,
  };
}

// As a duration, but without digits that say nothing.
function tickText(t) {
  return duration(t).replace(/\.0+(?= )/, '').replace(/(\.\d)0(?= )/, '$1');
}

function ticks(layout, end) {
  return steps(end, Math.max(2, Math.floor((layout.right - layout.left) / 90)));
}

function gridLines(layout, x, end, top, bottom) {
  return ticks(layout, end).map((t) => svg('path', {class: 'grid', d: `M${x(t)} ${top}V${bottom}`}));
}

// The axis and, below it, how many decoded.
function headPicture(data, layout, width, x, end) {
  const top = layout.narrow ? 40 : 24, height = 32;
  const most = Math.max(1, ...data.timeline.decoding.map(([, n]) => n));
  const y = (n) => top + height - n * (height - 4) / most;
  let path = `M${x(0)} ${y(0)}`;
  for (const [t, n] of data.timeline.decoding) path += `H${x(t).toFixed(1)}V${y(n).toFixed(1)}`;
  path += `H${x(end)}V${y(0)}Z`;
  const labels = ticks(layout, end).map((t) => svg('text', {
    class: 'tick', y: 14, x: t === 0 ? layout.left : x(t), 'text-anchor': t === 0 ? 'start' : 'middle',
  }, t === 0 ? '0' : tickText(t)));
  return svg('svg', {width, height: top + height + 6, role: 'img', 'aria-label': 'How many agents decoded at once'},
      labels, gridLines(layout, x, end, 20, top + height + 6),
      svg('path', {class: 'area', d: path}),
      svg('text', {class: 'tick', x: layout.narrow ? x(0) + 2 : 4, y: layout.narrow ? top - 4 : top + 20},
          'decoding at once'),
      svg('text', {class: 'tick', x: width - 4, y: layout.narrow ? top - 4 : y(most) + 8, 'text-anchor': 'end'},
          'max ' + most));
}

// From the end of an answer to the agent that waited for it.
function needArrows(rows, layout, x, critical) {
  const place = new Map();
  rows.forEach((row, i) => row.kind === 'agent' && place.set(row.index, i));
  const middle = (i) => i * layout.rowHeight + layout.bar + layout.height / 2;
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

// Documents that an agent waited for stand in front of it: what is in front of them is its need.
function criticalPairs(whole) {
  const path = whole.filter((name) => !name.startsWith('document:'));
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

// One row, and what pointing at it does.
function rowPicture(row, i, data, shapes, tip) {
  const g = svg('g', {class: 'row', tabindex: 0, 'data-row': i}, shapes);
  const related = (on) => {
    const of = (end) => `.arrow[data-${end}="${row.index}"]`;
    g.ownerSVGElement.querySelectorAll(of('from') + ',' + of('to'))
        .forEach((arrow) => arrow.classList.toggle('lit', on));
  };
  const show = (x, y) => { related(true); tip.show(row, data, x, y); };
  const hide = () => { related(false); tip.hide(); };
  g.addEventListener('pointermove', (at) => show(at.clientX, at.clientY));
  g.addEventListener('pointerleave', hide);
  g.addEventListener('focus', () => {
    const box = g.getBoundingClientRect();
    show(box.left + 120, box.top + 12);
  });
  g.addEventListener('blur', hide);
  if (row.kind === 'agent') g.addEventListener('click', () => openAnswer(row.index));
  return g;
}

function drawTimeline(data) {
  const rows = timelineRows(data);
  const end = Math.max(1e-3, data.timeline.end_ms || 0);
  const body = el('div', {class: rows.length > MANY ? 'rows many' : 'rows'});
  const chart = el('div', {class: 'chart'}, body);
  fill(section('timeline'), {}, [legend(), chart, pathText(data)]);
  const tip = tipFor(chart);
  const critical = criticalPairs(data.report.summary.critical_path);
  let head = null;
  drawn(body, (width) => {
    const layout = timelineGeometry(rows, width);
    const x = (t) => layout.left + Math.min(t, end) / end * (layout.right - layout.left);
    const height = rows.length * layout.rowHeight + 6;
    body.replaceChildren(svg('svg', {width, height, role: 'img', 'aria-label': 'Timeline of the run'},
        svg('defs', {}, tipMarker('tip'), tipMarker('tip-critical')),
        gridLines(layout, x, end, 0, height), needArrows(rows, layout, x, critical),
        rows.map((row, i) => rowPicture(
            row, i, data, rowShapes(rowGeometry(layout, width, x, i), row), tip))));
    if (head) head.remove();
    head = headPicture(data, layout, width, x, end);
    chart.prepend(head);
  });
}
