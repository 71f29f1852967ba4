// Times of XMLTV: 20261127183000 +0100, 202611271830, 20261127.

/** Zones that guides name instead of an offset, in minutes. */
const ZONES: Readonly<Record<string, number>> = {
  ...{ Z: 0, UTC: 0, GMT: 0, WET: 0, WEST: 60, BST: 60, IST: 60, CET: 60, CEST: 120, EET: 120, EEST: 180, MSK: 180 },
  ...{ EST: -300, EDT: -240, CST: -360, CDT: -300, MST: -420, MDT: -360, PST: -480, PDT: -420 },
};

const TIME = /^(\d{4})(\d{2})(\d{2})(\d{2})?(\d{2})?(\d{2})?(?: ?([+-]\d{2}):?(\d{2})| ?([A-Z]{1,4}))?$/;

/** The time in milliseconds; undefined for a text that is none. A time without a zone is UTC, as XMLTV defines it. */
export function timeOf(text: string): number | undefined {
  const parts = TIME.exec(text.trim().slice(0, 40));
  if (!parts) return undefined;
  const [, year, month, day, hour = '0', minute = '0', second = '0', hours, minutes, zone] = parts;
  const offset = hours === undefined ? zoneOffset(zone) : Number(hours) * 60 + signOf(hours) * Number(minutes);
  if (offset === undefined || Math.abs(offset) > 16 * 60) return undefined;
  const [y, m, d, h, min, s] = [year, month, day, hour, minute, second].map(Number) as [
    ...[number, number, number],
    ...[number, number, number],
  ];
  if (y < 1970 || h > 24 || min > 59 || s > 60) return undefined;
  const local = Date.UTC(y, m - 1, d, h, min, s);
  const date = new Date(Date.UTC(y, m - 1, d));
  if (date.getUTCMonth() !== m - 1 || date.getUTCDate() !== d) return undefined;
  return local - offset * 60_000;
}

const signOf = (hours: string): number => (hours.startsWith('-') ? -1 : 1);

const zoneOffset = (zone: string | undefined): number | undefined =>
  zone === undefined ? 0 : Object.hasOwn(ZONES, zone) ? ZONES[zone] : undefined;
