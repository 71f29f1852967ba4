import { expect } from 'chai';
import fc from 'fast-check';
import { ageYears } from '#platform/age-ratings.ts';

describe('age ratings', () => {
  const cases: [number | undefined, string][] = [
    [0, 'G|U|TV-Y|FSK 0|FSK-0|o.Al.|Tous publics|0+|L|Approved'],
    [7, 'TV-Y7|TV-Y7-FV|7|K-7'],
    [10, 'PG|Rated PG|TV-PG|us/PG|-10'],
    [12, 'FSK 12|12A|ab 12|12+|DE:12|Germany:FSK 12|de/12|PG12|Interdit aux moins de 12 ans'],
    [13, 'PG-13|Rated PG-13 for 2 scenes of violence|T'],
    [14, 'TV-14|14A'],
    [16, 'FSK 16|FSK-16|R16|16 years|Germany:16|IN:UA 16+'],
    [17, 'R|Rated R|US:R|TV-MA'],
    [18, 'NC-17|R18+|X|FSK 18|XX|18'],
    [undefined, 'NR|Not Rated|Unrated|UR||Rated|unknown|1994|99'],
  ];
  for (const [years, texts] of cases) {
    it(`give ${years ?? 'nothing'}: ${texts}`, () => {
      for (const text of texts.split('|')) expect(ageYears(text), text).to.equal(years);
    });
  }

  it('of several boards are the one of the country, else the strictest', () => {
    const both = 'US:R / DE:16';
    expect(ageYears(both, 'DE')).to.equal(16);
    expect(ageYears('Germany:6 | United States:PG-13', 'DE')).to.equal(6);
    expect(ageYears(both, 'FR')).to.equal(17);
    expect(ageYears('FSK 12, PG')).to.equal(12);
  });

  it('are never anything but an age that an account may have, for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 80 }), (text) => {
        const years = ageYears(text, 'DE');
        expect(years === undefined || (Number.isInteger(years) && years >= 0 && years <= 21)).to.equal(true);
      }),
    );
  });
});
