/**
 * Words that the project does not use, each with what it says instead. Readers meet standard technical English, as in the
 * documentation of Kubernetes or Stripe.
 */
export const words: readonly (readonly [word: RegExp, instead: string])[] = [
  [/\btold\b/i, 'notified, reported, announced'],
  [/\btells?\b|\btelling\b/i, 'notifies, reports, shows, distinguishes'],
  [/\bsaid\b/i, 'reported, stated'],
  [/\bseen\b(?! (?:at|on)\b)/i, 'observed, visible, found'],
  [/\bwish(?:es|ed)?\b/i, 'options, query, request, preference'],
  [/\bask(?:s|ed|ing)?\b/i, 'request, query, require'],
  [/\banew\b/i, 'again'],
  [/\bbeside\b/i, 'next to, in addition to, concurrent with'],
  [/\baway\b/i, 'unavailable, unreachable, gone'],
  [/\bstrange(?:r|rs)?\b/i, 'unknown, anonymous, unexpected'],
  [/\bof what\b|\bof who\b/i, 'name the thing'],
  [/\b(?:is|are|was|were) to be (?:had|reached|read|found)\b/i, 'is available, can be read'],
  [/\bwhat (?:is|was|are|were|has|have|lies|stands|comes|came|goes|went) \w+/i, 'name the thing'],
  [/\bwhoever\b|\bwho (?:asks|wishes)\b/i, 'the caller, the user'],
  [/\bnothing of\b|\bnobody\b/i, 'no + noun, no one'],
  [/\bso that it can\b/i, 'to'],
];

/** Identifiers: the same words as a part of a camel-case or snake-case name. */
export const identifiers =
  /(?:^|[a-z_])(Wish|Wishes|Wished|Ask|Asks|Asked|Asker|Told|Said|Seen|Tell|Tells|Away|Anew|Beside|Strange)(?=[A-Z_]|\b)|\b(wish|wishes|wished|ask|asks|asked|told|said|tell|tells|away|anew|beside)(?=[A-Z_]|\b)/;
