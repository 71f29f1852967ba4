import { withoutEnds } from './text.ts';

/** Ratings without a number. Where boards use one word for different ages, the highest age. */
const WORDS = new Map<string, number>(
  Object.entries({
    0: 'G U UC E EC EVERYONE ALL AL ALL-AGES TV-G TV-Y TP TOUS-PUBLICS TODOS ATP APTA L LIVRE BTL KT S I O-AL OAL OHNE APPROVED PASSED GA',
    10: 'PG TV-PG GP',
    12: 'UA U/A IIA',
    13: 'T TEEN',
    15: 'IIB',
    17: 'R TV-MA MA M MATURE',
    18: 'NC-17 X AO A III ADULT ADULTS-ONLY',
  }).flatMap(([years, words]) => words.split(' ').map((word): [string, number] => [word, Number(years)])),
);

const GREATEST = 21;

/**
 * The age of one board's rating, such as `PG-13`, `FSK 16`, `12A` or `Rated R for violence`; undefined without an age.
 */
function yearsOf(text: string): number | undefined {
  const plain = text
    .toUpperCase()
    .replace(/^ ?RATED /, '')
    .replace(/ (?:FOR|DUE TO) .*$/s, '');
  const word = withoutEnds(plain, '. ').replace(/^X+$/, 'X');
  const known = WORDS.get(word.replaceAll(/[.\s_]+/g, '-'));
  if (known !== undefined) return known;
  const [, digits] = /^\P{N}{0,40}?(\d{1,2})\P{N}{0,10}$/u.exec(word) ?? [];
  return digits === undefined || Number(digits) > GREATEST ? undefined : Number(digits);
}

/** `DE:FSK 16`, `Germany:16` and `de/16` name the country of the board. */
function partsOf(text: string): { of: string | undefined; value: string } {
  const [, of, value] = /^ ?(\p{L}[\p{L} ]{1,30}):(.+)$/u.exec(text) ?? /^ ?(\p{L}{2})\/(.+)$/u.exec(text) ?? [];
  return value === undefined ? { of: undefined, value: text } : { of, value };
}

/**
 * The age that a rating requires; undefined for none (`NR`). Of several boards (`US:R / DE:16`) that of the country
 * (ISO 3166-1) counts, otherwise the strictest.
 */
export function ageYears(rating: string, country?: string | null): number | undefined {
  const parts = rating
    .slice(0, 500)
    .replace(/\s+/g, ' ')
    .split(/ \/ |[|;,]/)
    .map(partsOf)
    .flatMap(({ of, value }) => {
      const years = yearsOf(value);
      return years === undefined ? [] : [{ of: of?.toUpperCase(), years }];
    });
  const name = country && new Intl.DisplayNames(['en'], { type: 'region' }).of(country)?.toUpperCase();
  const own = parts.filter(({ of }) => of !== undefined && (of === country || of === name));
  const counting = (own.length > 0 ? own : parts).map(({ years }) => years);
  return counting.length > 0 ? Math.max(...counting) : undefined;
}
