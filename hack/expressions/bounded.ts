// Expressions that are not linear, or are made at run time, and why none of them can hold up a process.

export interface Bounded {
  /** Path below the root of the tree. */
  file: string;
  /** As it stands in the source, without line breaks. */
  expression: string;
  because: string;
}

const ofName = 'It reads one file name, which has 255 bytes at most.';
const ofAdmin = 'It reads a short text of a resource, which an admin wrote.';
const ofOurs = 'Both the expression and what it reads are our own.';

/** The list is to become shorter: what can be one pass over the text is none of these. */
export const bounded: readonly Bounded[] = [
  {
    file: 'api/client/transport.ts',
    expression: '/\\/+$/',
    because: 'It reads the address that the program itself set.',
  },
  { file: 'api/areas/email/render.ts', expression: '/<!--#(\\w+)-->([\\s\\S]*?)<!--\\/\\1-->/g', because: ofOurs },
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
  { file: 'api/kernel/examples/example.ts', expression: "new RegExp(pattern, 'u')", because: ofOurs },
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
  {
    file: 'operator/schemas/core.ts',
    expression: 'new RegExp(`${z.regexes.cidrv4.source}|${z.regexes.cidrv6.source}`)',
    because: 'Each half is linear, and both are tied to the beginning.',
  },
  ...[
    ['parts.ts', '/^(.*?\\S)[\\s._-]+\\(?(cd|dvd|disc|disk|part|pt)[\\s._-]*([1-8]|[a-d])\\)?$/i'],
    ['shows.ts', '/[\\s._-]+$/'],
    ['shows.ts', '/^(.*\\S)[\\s._-]+(?:s|season[\\s._-]*)(\\d{1,2})(?![\\de])/i'],
    [
      'shows.ts',
      '/(?<![a-z])(?:episode|folge|épisode|episodio|ep|e)[\\s._-]*(\\d{1,4})(?:[\\s._-]*-[\\s._-]*(?:ep|e)?(\\d{1,4}))?(?![a-z0-9])/i',
    ],
    [
      'shows.ts',
      '/(?<![a-z0-9])s(\\d{1,4})[\\s._-]*e(\\d{1,4})((?:[\\s._-]*(?:-|e|-e|x)[\\s._-]*e?\\d{1,4}(?!\\d|p))*)/i',
    ],
    ['title.ts', '/^[\\s\\-–—]+|[\\s\\-–—]+$/g'],
    ['title.ts', '/^(.*?\\S.*?)[\\s._-]*[([](\\d{4})(?:-(?:\\d{4})?)?[)\\]]/'],
    ['title.ts', '/[[({]\\s*(imdb|tmdb|tvdb)(?:id)?\\s*[-=: ]\\s*(tt\\d{5,10}|\\d{1,10})\\s*[\\])}]/gi'],
    ['extras.ts', "new RegExp(`^(.+?)[\\\\s._]?[-._](${Object.keys(SUFFIXES).join('|')})\\\\d{0,2}$`, 'i')"],
    ['title.ts', "new RegExp(`^(?:(?:${words})\\\\s+${elided ? `|${elided}` : ''})(?=\\\\S)`, 'iu')"],
  ].map(([name = '', expression = '']) => ({ file: `workers/scan/names/${name}`, expression, because: ofName })),
  {
    file: 'workers/scan/names/embedded.ts',
    expression: '/\\s*[;,/|]\\s*/',
    because: 'A tag of a file is cut to 8,000 characters when the file is probed.',
  },
  {
    file: 'workers/scan/names/nfo.ts',
    expression: '/\\s*\\/\\s*/',
    because: 'A value of an NFO is cut to 20,000 characters.',
  },
];
