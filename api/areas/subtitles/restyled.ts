const TIMES = /^((?:Dialogue|Comment):[^,]*),([^,]*),([^,]*),/;

/** Shifts the lines of a SubStation text. */
export function restyled(text: string, offsetMs: number): string {
  if (offsetMs === 0) return text;
  const lines = text.split(/\r?\n/).flatMap((line) => {
    const [all, head, start = '', end = ''] = TIMES.exec(line) ?? [];
    if (all === undefined) return [line];
    const [from, to] = [msOf(start) + offsetMs, msOf(end) + offsetMs];
    return to > 0 ? [`${head},${clock(Math.max(from, 0))},${clock(to)},${line.slice(all.length)}`] : [];
  });
  return lines.join('\n');
}

function msOf(time: string): number {
  const [seconds = '0', minutes = '0', hours = '0'] = time.trim().split(':').reverse();
  return Math.round((Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000);
}

/** A time in SubStation's format. */
export function clock(ms: number): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  const hundredths = Math.floor(ms / 10);
  const [h, m, s] = [
    Math.floor(hundredths / 360_000),
    Math.floor(hundredths / 6000) % 60,
    Math.floor(hundredths / 100) % 60,
  ];
  return `${h}:${two(m)}:${two(s)}.${two(hundredths % 100)}`;
}
