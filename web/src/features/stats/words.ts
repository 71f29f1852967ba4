import * as m from '#messages/stats.ts';

const HOUR = 3_600_000;
const tag = (): string => document.documentElement.lang || 'en';

/** `3.5 h` or `12 min`. */
export const played = (ms: number): string =>
  ms >= HOUR
    ? m.hours({ n: new Intl.NumberFormat(tag(), { maximumFractionDigits: 1 }).format(ms / HOUR) })
    : m.minutes({ n: Math.round(ms / 60_000) });

export const when = (iso: string): string =>
  new Intl.DateTimeFormat(tag(), { dateStyle: 'medium', timeStyle: 'short' }).format(new Date(iso));

const METHODS: Readonly<Record<string, () => string>> = {
  direct_play: m.directPlay,
  direct_stream: m.directStream,
  transcode: m.transcode,
  offline: m.offline,
};

export const methodWord = (method: string): string => METHODS[method]?.() ?? method;
