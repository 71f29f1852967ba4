import * as m from '#messages/player.ts';

interface Numbered {
  type: string;
  index?: number;
  indexEnd?: number;
  parentIndex?: number;
}

/** Such as S2 E4; empty for an item without a number. */
export function episodeCode({ type, index, indexEnd, parentIndex }: Numbered): string {
  if (type !== 'episode' || index === undefined) return '';
  const episode = indexEnd && indexEnd > index ? `${index}–${indexEnd}` : String(index);
  return parentIndex === undefined ? m.episode({ episode }) : m.seasonEpisode({ season: parentIndex, episode });
}
