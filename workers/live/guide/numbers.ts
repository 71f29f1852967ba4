// Numbers of seasons and episodes, in the systems that guides use.

export interface Numbers {
  season?: number;
  episode?: number;
  /** Of Gracenote, such as `EP012345670012`. */
  progId?: string;
}

const MOST = 100_000;
const SEASON_EPISODE = [
  /\bs(?:eason|taffel)?[ .]{0,2}(\d{1,5})[ .,:_-]{0,3}e(?:p|pisode)?[ .]{0,2}(\d{1,5})/i,
  /\b(\d{1,4})x(\d{1,5})\b/i,
] as const;
const EPISODE = /\b(?:e|ep|episode|folge|part)[ .]{0,2}(\d{1,5})\b/i;
const SEASON = /\b(?:s|season|staffel)[ .]{0,2}(\d{1,5})\b/i;

/** `1.4.0/1` is season 2, episode 5: the system counts from zero, and any part may be absent. */
function ofNs(text: string): Numbers {
  const [season, episode] = text.split('.', 3).map((part) => {
    const [, digits] = /^\s*(\d{1,6})\s*(?:\/|$)/.exec(part.slice(0, 40)) ?? [];
    const number = digits === undefined ? undefined : Number(digits) + 1;
    return number !== undefined && number <= MOST ? number : undefined;
  });
  return { ...(season !== undefined && { season }), ...(episode !== undefined && { episode }) };
}

/** `S02E05`, `2x05`, `Season 2 Episode 5`, `Ep. 5`. */
function onScreen(text: string): Numbers {
  for (const shape of SEASON_EPISODE) {
    const [, season, episode] = shape.exec(text) ?? [];
    if (season !== undefined && episode !== undefined) return { season: Number(season), episode: Number(episode) };
  }
  const [, episode] = EPISODE.exec(text) ?? [];
  const [, season] = SEASON.exec(text) ?? [];
  return {
    ...(season !== undefined && { season: Number(season) }),
    ...(episode !== undefined && { episode: Number(episode) }),
  };
}

/** `EP01234567.0012` without its dot; undefined for another shape. */
function progIdOf(text: string): string | undefined {
  const [, kind, series, episode] = /^(EP|SH|MV|SP)(\d{6,10})\.?(\d{4})$/i.exec(text.trim()) ?? [];
  return kind && series && episode ? `${kind.toUpperCase()}${series}${episode}` : undefined;
}

/** The numbers of all `episode-num` of a programme: `xmltv_ns` before `onscreen` before `SxxExx`, in any order. */
export function numbersOf(all: readonly { system: string; text: string }[]): Numbers {
  let ns: Numbers = {};
  let screen: Numbers = {};
  let sxx: Numbers = {};
  let progId: string | undefined;
  for (const { system, text } of all) {
    const part = text.slice(0, 100);
    if (system === 'xmltv_ns') ns = { ...ofNs(part), ...ns };
    else if (system === 'dd_progid') progId ??= progIdOf(part);
    else if (system === 'onscreen') screen = { ...onScreen(part), ...screen };
    else if (system === 'SxxExx') sxx = { ...onScreen(part), ...sxx };
  }
  return { ...sxx, ...screen, ...ns, ...(progId !== undefined && { progId }) };
}
