/** Types that hold others. All other types are played, read or viewed themselves. */
export const containerTypes = [
  'show',
  'season',
  'artist',
  'album',
  'photo-album',
  'author',
  'comic-series',
  'course',
  'section',
] as const;

export function isContainer(type: string): boolean {
  return (containerTypes as readonly string[]).includes(type);
}

/** `array['show', …]` for constant SQL text. */
export const containersSql = `array[${containerTypes.map((type) => `'${type}'`).join()}]`;
