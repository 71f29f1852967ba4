// Times of XMLTV: 20261127183000 +0100, 202611271830, 20261127.

/** Zones that guides name instead of an offset, in minutes. */
const ZONES: Readonly<Record<string, number>> = {
  ...{ Z: 0, UTC: 0, GMT: 0, WET: 0, WEST: 60, BST: 60, IST: 60, CET: 60, CEST: 120, EET: 120, EEST: 180, MSK: 180 },
  ...{ EST: -300, EDT: -240, CST: -360, CDT: -300, MST: -420, MDT: -360, PST: -480, PDT: -420 },
};

const TIME = /^(\d{4})(\d{2})(\d{2})(\d{2})?(\d{2})?(\d{2})?(?: ?([+-]\d{2}):?(\d{2})| ?([A-Z]{1,4}))?$/;

const MOST_TEXT = 40;
/** The programmes of a guide share most of their times, so that these are kept. */
const MOST_KEPT = 20_000;
const times = new Map<string, number>();
const isoTimes = new Map<number, string>();

function keep<K, V>(kept: Map<K, V>, key: K, value: V): V {
  if (kept.size >= MOST_KEPT) kept.clear();
  kept.set(key, value);
  return value;
}

/** The time in milliseconds; undefined for a text that is none. A time without a zone is UTC, as XMLTV defines it. */
export function timeOf(text: string): number | undefined {
  const known = times.get(text);
  if (known !== undefined) return known;
  const time = readTime(text);
  // a copy, as the text is a part of its chunk of the guide, which it would hold
  if (time !== undefined && text.length <= MOST_TEXT) keep(times, Buffer.from(text).toString(), time);
  return time;
}

/** The time as ISO 8601 writes it. */
export function isoOf(ms: number): string {
  return isoTimes.get(ms) ?? keep(isoTimes, ms, new Date(ms).toISOString());
}

function readTime(text: string): number | undefined {
  const parts = TIME.exec(text.trim().slice(0, MOST_TEXT));
  if (!parts) return undefined;
  const [hours, minutes, zone] = parts.slice(7);
  const offset = hours === undefined ? zoneOffset(zone) : Number(hours) * 60 + signOf(hours) * Number(minutes);
  const local = localOf(parts.slice(1, 7).map((part) => Number(part ?? 0)) as unknown as Parts);
  if (local === undefined || offset === undefined || Math.abs(offset) > 16 * 60) return undefined;
  return local - offset * 60_000;
}

/** Of year, month, day, hour, minute, second. */
type Parts = readonly [number, number, number, number, number, number];

/** The time as if it were UTC; undefined for a day or an hour that does not exist. */
function localOf([year, month, day, hour, minute, second]: Parts): number | undefined {
  if (year < 1970 || hour > 24 || minute > 59 || second > 60) return undefined;
  const midnight = new Date(Date.UTC(year, month - 1, day));
  const isDay = midnight.getUTCMonth() === month - 1 && midnight.getUTCDate() === day;
  return isDay ? midnight.getTime() + ((hour * 60 + minute) * 60 + second) * 1000 : undefined;
}

const signOf = (hours: string): number => (hours.startsWith('-') ? -1 : 1);

const zoneOffset = (zone: string | undefined): number | undefined =>
  zone === undefined ? 0 : Object.hasOwn(ZONES, zone) ? ZONES[zone] : undefined;
