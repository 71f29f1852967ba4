// Expressions that are not linear, or are made at run time, and why none of them can block a process.

export interface Bounded {
  /** Path below the root of the tree. */
  file: string;
  /** As it stands in the source, without line breaks. */
  expression: string;
  because: string;
}

const ofWords = 'It is made of our own words, and recheck found the result linear; it reads one file name.';
const ofAdmin = 'It reads a short text of a resource, which an admin wrote.';
const ofOurs = 'Both the expression and what it reads are our own.';

/** The list only becomes shorter: prefer a single pass over the text to an entry here. */
export const bounded: readonly Bounded[] = [
  {
    file: 'api/client/transport.ts',
    expression: '/\\/+$/',
    because: 'It reads the address that the program itself set.',
  },
  {
    file: 'api/areas/email/content/render.ts',
    expression: '/<!--#(\\w+)-->([\\s\\S]*?)<!--\\/\\1-->/g',
    because: ofOurs,
  },
  {
    file: 'api/areas/email/address.ts',
    expression: "new RegExp(address.replace(/[^\\w@]/g, '\\\\$&'), 'gi')",
    because: 'Every sign of the text is escaped, and plain words are found in one pass.',
  },
  {
    file: 'api/areas/items/items.schemas.ts',
    expression: "new RegExp(`^(?:${itemTypes.join('|')}|custom:[a-z0-9][a-z0-9_-]{0,39})$`)",
    because: 'It is a list of our own words, tied to the beginning.',
  },
  {
    file: 'operator/media-server/transcode-demand.ts',
    expression: '/([a-z_]+)="((?:[^"\\\\]|\\\\.)*)"/g',
    because: 'It reads one line of the metrics of our own pods.',
  },
  {
    file: 'operator/media-server/transcode-jobs.ts',
    expression: '/\\d+$/',
    because: 'A Job has a name of 63 characters at most.',
  },
  {
    file: 'operator/runtime/quantity.ts',
    expression: '/^([+-]?[0-9]*\\.?[0-9]+|[+-]?[0-9]+\\.)(Ki|Mi|Gi|Ti|Pi|Ei|n|u|m|k|M|G|T|P|E|[eE][+-]?[0-9]+)?$/',
    because: ofAdmin,
  },
  { file: 'operator/media-server/desired/images.ts', expression: '/^([^/]*[.:][^/]*|localhost)\\//', because: ofAdmin },
  { file: 'operator/schemas/cron.ts', expression: '/(\\d+)-(\\d+)/g', because: ofAdmin },
  { file: 'operator/schemas/cron.ts', expression: "new RegExp(never(' +'))", because: ofAdmin },
  { file: 'operator/schemas/cron.ts', expression: 'new RegExp(part)', because: ofAdmin },
  {
    file: 'operator/schemas/core.ts',
    expression: 'new RegExp(`${z.regexes.cidrv4.source}|${z.regexes.cidrv6.source}`)',
    because: 'Each half is linear, and both are tied to the beginning.',
  },
  ...[
    [
      'number-words.ts',
      "new RegExp( `(?<![\\\\p{L}\\\\d])(?:${SEASON}[\\\\s._-]{0,2}(\\\\d{1,2})|(\\\\d{1,2})(?:st|nd|rd|th)[\\\\s._]season)[\\\\])]?[\\\\s._]{0,2}(?:[-[][\\\\s._]{0,2}|[\\\\s._])(\\\\d{1,4})(?:v\\\\d)?(?![\\\\p{L}\\\\d])`, 'iu', )",
    ],
    [
      'number-words.ts',
      "new RegExp( `(?<![\\\\p{L}\\\\d])(?:${SEASON}|t)[\\\\s._-]{0,3}(\\\\d{1,4})[\\\\s._,()[\\\\]-]{0,4}${EPISODE}[\\\\s._([-]{0,3}(\\\\d{1,5})(?![\\\\d])`, 'iu', )",
    ],
    [
      'seasons.ts',
      "new RegExp( `(?<![\\\\p{L}\\\\d'’])(?:${WORDS}|tem|temp)[\\\\s._-]{0,3}(\\\\d{1,4})(?:[\\\\s._]?-[\\\\s._]?(?:s|season\\\\s)?(\\\\d{1,4}))?(?![\\\\dex]|-\\\\d)`, 'iu', )",
    ],
    [
      'seasons.ts',
      "new RegExp( `^(\\\\d{1,4})(?:st|nd|rd|th|ª|º|\\\\.|-?й|-?я)?[\\\\s._-]{0,3}(?:${WORDS})(?=$|[\\\\s._-]{0,3}[([])`, 'iu', )",
    ],
    ['seasons.ts', "new RegExp(`^(?:${WORDS})[\\\\s._-]{0,3}(\\\\d{1,4})(?![\\\\p{L}\\\\d])`, 'iu')"],
  ].map(([name = '', expression = '']) => ({ file: `workers/scan/names/${name}`, expression, because: ofWords })),
  {
    file: 'api/platform/sort-title.ts',
    expression: "new RegExp(`^(?:(?:${words})\\\\s+${elided ? `|${elided}` : ''})(?=\\\\S)`, 'iu')",
    because: ofWords,
  },
];
