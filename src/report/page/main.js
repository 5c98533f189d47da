// Every part draws itself; a part that cannot is told so and does not take the others with it.

function draw(part, action) {
  try {
    action();
  } catch (error) {
    console.error('the ' + part + ' could not be drawn', error);
    section(part).append(el('p', {class: 'problem'}, 'This part could not be drawn: ' + error.message));
  }
}

function drawPage() {
  const data = JSON.parse(document.getElementById('data').textContent);
  const report = data.report;
  draw('head', () => drawHeader(data));
  draw('warnings', () => drawWarnings(report));
  draw('timeline', () => drawTimeline(data));
  draw('tree', () => drawTree(data));
  draw('latency', () => drawLatency(data));
  draw('numbers', () => drawNumbers(report));
  draw('answers', () => drawAnswers(report));
  section('foot').append(el('p', {class: 'muted'},
      'Times since the run began with its model loaded; what is not known is ' + UNKNOWN +
      '. The words and formulas are those of docs/metrics.md.'));
  document.documentElement.dataset.drawn = 'yes';
}

drawPage();
