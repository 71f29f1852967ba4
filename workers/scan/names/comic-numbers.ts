// Numbers in the names of comics. Each expression is written out, so that its time can be judged: a number is up to four digits with a
// fraction or as a range, after a space or a separator, and before another one.

/** Numbers of volumes, in the order of trust. `t6` and `s01` need the number at once; `[v2]` is a version of a scan. */
export const VOLUMES: readonly RegExp[] = [
  /(?:^|[\s\-,.:;([&])(?:volumes?|vols?|tomes?|тома?)[\s.-]{0,2}#?(\d{1,4}(?:\.\d{1,3})?(?:-\d{1,4}(?:\.\d)?(?![\d.]))?)(?=$|[\s\-,.:;()[\]{}#+]|[vc]\d|x\d)/iu,
  /(?:^|[\s\-,.(])v\.?(\d{1,4}(?:\.\d{1,3})?(?:-\d{1,4}(?:\.\d)?(?![\d.]))?)(?=$|[\s\-,.:;()[\]{}#+]|[vc]\d|x\d)/iu,
  /(?:^|[\s\-,.:;([&])[ts](\d{1,4}(?:\.\d{1,3})?(?:-\d{1,4}(?:\.\d)?(?![\d.]))?)(?=$|[\s\-,.:;()[\]{}#+]|[vc]\d|x\d)/iu,
  /[卷제](\d{1,4}(?:\.\d{1,3})?(?:-\d{1,4}(?:\.\d)?(?![\d.]))?)/u,
  /第?(\d{1,4}(?:\.\d{1,3})?(?:-\d{1,4}(?:\.\d)?(?![\d.]))?)[巻卷册冊권]/u,
  /(?:시즌|เล่ม(?:ที่)?\s?)(\d{1,4}(?:\.\d{1,3})?(?:-\d{1,4}(?:\.\d)?(?![\d.]))?)/u,
];

/** Numbers of chapters and issues, in the order of trust. */
export const NUMBERS: readonly RegExp[] = [
  /(?:^|[\s\-,.:;([&])(?:chapters?|chap|chp?s?|issue|episode|ep|глав[аы])[\s.-]{0,2}#?(\d{1,4}(?:\.\d{1,3})?(?:-\d{1,4}(?:\.\d)?(?![\d.]))?)(?=$|[\s\-,.:;()[\]{}#+]|[vc]\d|x\d)/iu,
  /(?<![話话화회장])#\s?(\d{1,4}(?:\.\d{1,3})?(?:-\d{1,4}(?:\.\d)?(?![\d.]))?)(?=$|[\s\-,.:;()[\]{}#+]|[vc]\d|x\d)/u,
  /[(](\d{1,4}(?:\.\d{1,3})?(?:-\d{1,4}(?:\.\d)?(?![\d.]))?) of \d{1,4}[)]/iu,
  /(?:^|[\s\-,.:;([&])(\d{1,4}(?:\.\d{1,3})?(?:-\d{1,4}(?:\.\d)?(?![\d.]))?)\s(?:глав[аы])/iu,
  /(?:^|[\s\-,.:;([&])c(\d{1,4}-c\d{1,4})(?=$|[\s\-,.:;()[\]{}#+]|[vc]\d|x\d)/iu,
  /(?:^|[\s\-,.:;([&])c(\d{1,4}(?:\.\d{1,3})?(?:-\d{1,4}(?:\.\d)?(?![\d.]))?)(?=$|[\s\-,.:;()[\]{}#+]|[vc]\d|x\d)/iu,
  /第?(\d{1,4}(?:\.\d{1,3})?(?:-\d{1,4}(?:\.\d)?(?![\d.]))?)[話话화회장]/u,
  /(?:ตอนที่|บทที่)\s?(\d{1,4}(?:\.\d{1,3})?(?:-\d{1,4}(?:\.\d)?(?![\d.]))?)/u,
];

/** Words that end the name of the series without a number of their own. */
export const ENDS: readonly RegExp[] = [
  /(?:^|[\s\-,.:;([&])(?:sp\d{1,3}|omake(?:-\d{1,2})?|vol\.?tbd)(?=$|[\s\-,.:;()[\]{}#+]|[vc]\d|x\d)/iu,
  /\s\d{4}년/u,
];

/** A number right behind a volume. */
export const FOLLOWS = /^[\s-]{0,3}(\d{1,4}(?:\.\d{1,3})?(?:-\d{1,4}(?:\.\d)?(?![\d.]))?)(?=$|[\s([{])/u;
/** A number at the end of a part of the name. */
export const ENDING = /(?:^|[\s-])(\d{1,4}(?:\.\d{1,3})?(?:-\d{1,4}(?:\.\d)?(?![\d.]))?)$/u;
/** A number among words. */
export const AMONG = /\s(\d{1,4}(?:\.\d{1,3})?(?:-\d{1,4}(?:\.\d)?(?![\d.]))?)(?=\s)/u;
/** The second half of a chapter: `153b` is 153.5. */
export const HALF = /\s(\d{1,4}(?:-\d{1,4})?)b(?=$|\s)/u;
