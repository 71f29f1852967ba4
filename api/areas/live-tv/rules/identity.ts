// What makes two airings the same episode or film.

interface Named {
  episode_key: string | null;
  series_key: string | null;
  title: string;
  season_number: number | null;
  episode_number: number | null;
  /** YYYY-MM-DD. */
  original_air_date: unknown;
}

/** The same for all airings of an episode or film; undefined where the guide does not say which one it is. */
export function episodeOf(row: Named): string | undefined {
  if (row.episode_key !== null) return `key ${row.episode_key}`;
  if (row.season_number !== null && row.episode_number !== null)
    return `number ${row.series_key ?? row.title}/${row.season_number}.${row.episode_number}`;
  return typeof row.original_air_date === 'string' ? `date ${row.title}/${row.original_air_date}` : undefined;
}

/** As episodeOf, else of the airing alone. */
export const identityOf = (one: Named & { id: string }): string => episodeOf(one) ?? one.id;
