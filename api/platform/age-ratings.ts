import { withoutEnds } from './text.ts';

/** Words of the boards that say no number. Where two boards mean different ages by one word it is the greater. */
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

/** One board's word, as `PG-13`, `FSK 16`, `12A`, `Rated R for violence`; undefined where it says nothing of an age. */
function yearsOf(text: string): number | undefined {
  const said = text
    .toUpperCase()
    .replace(/^ ?RATED /, '')
    .replace(/ (?:FOR|DUE TO) .*$/s, '');
  const word = withoutEnds(said, '. ').replace(/^X+$/, 'X');
  const known = WORDS.get(word.replaceAll(/[.\s_]+/g, '-'));
  if (known !== undefined) return known;
  const [, digits] = /^\P{N}{0,40}?(\d{1,2})\P{N}{0,10}$/u.exec(word) ?? [];
  return digits === undefined || Number(digits) > GREATEST ? undefined : Number(digits);
}

/** `DE:FSK 16`, `Germany:16` and `de/16` say whose board it is. */
function partsOf(text: string): { of: string | undefined; value: string } {
  const [, of, value] = /^ ?(\p{L}[\p{L} ]{1,30}):(.+)$/u.exec(text) ?? /^ ?(\p{L}{2})\/(.+)$/u.exec(text) ?? [];
  return value === undefined ? { of: undefined, value: text } : { of, value };
}

/**
 * From what age a rating lets people watch; undefined for what is none (`NR`). Of several boards (`US:R / DE:16`) that of the country
 * (ISO 3166-1) counts, else the strictest.
 */
export function ageYears(rating: string, country?: string | null): number | undefined {
  const said = rating
    .slice(0, 500)
    .replace(/\s+/g, ' ')
    .split(/ \/ |[|;,]/)
    .map(partsOf)
    .flatMap(({ of, value }) => {
      const years = yearsOf(value);
      return years === undefined ? [] : [{ of: of?.toUpperCase(), years }];
    });
  const name = country && new Intl.DisplayNames(['en'], { type: 'region' }).of(country)?.toUpperCase();
  const own = said.filter(({ of }) => of !== undefined && (of === country || of === name));
  const counting = (own.length > 0 ? own : said).map(({ years }) => years);
  return counting.length > 0 ? Math.max(...counting) : undefined;
}
