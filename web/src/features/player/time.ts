// Times as the player shows them.

/** Such as 4:05 or 1:02:05. */
export function clock(ms: number): string {
  const all = Math.max(0, Math.floor(ms / 1000));
  const [hours, minutes, seconds] = [Math.floor(all / 3600), Math.floor(all / 60) % 60, all % 60];
  const two = (value: number): string => String(value).padStart(2, '0');
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds)}` : `${minutes}:${two(seconds)}`;
}

/** The time of day at which something of this length ends. */
export const endsAt = (leftMs: number, language: string): string =>
  new Intl.DateTimeFormat(language, { hour: '2-digit', minute: '2-digit' }).format(Date.now() + leftMs);

/** Such as 8.2 Mb/s or 640 kb/s. */
export function bitRateText(bitrate: number, language: string): string {
  const isLow = Math.round(bitrate / 1000) < 1000;
  const digits = new Intl.NumberFormat(language, { maximumFractionDigits: isLow ? 0 : 1 });
  return isLow ? `${digits.format(bitrate / 1000)} kb/s` : `${digits.format(bitrate / 1_000_000)} Mb/s`;
}

/** Such as +0.25 s. */
export const signedSeconds = (ms: number, language: string): string =>
  `${new Intl.NumberFormat(language, { signDisplay: 'exceptZero', minimumFractionDigits: 2, maximumFractionDigits: 2 }).format(ms / 1000)} s`;
