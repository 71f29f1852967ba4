import { expect } from 'chai';
import { readBookFolder, readBookName } from '#workers/scan/names/books.ts';

const SERIES = ['Terry Goodkind', 'Sword of Truth'];
const truth = (number?: string) => ({ title: 'Sword of Truth', ...(number !== undefined && { number }) });

describe('the folder of an audiobook', () => {
  const folders: [folder: string, around: string[], want: object][] = [
    [
      'Hackers - Heroes of the Computer Revolution {Mike Chamberlain}',
      ['Steven Levy'],
      { title: 'Hackers', narrators: ['Mike Chamberlain'] },
    ],
    [
      'Hackers {A. Reader, B. Reader & C. Reader}',
      ['Steven Levy'],
      { title: 'Hackers', narrators: ['A. Reader', 'B. Reader', 'C. Reader'] },
    ],
    ['1945 - Animal Farm', ['George Orwell'], { title: 'Animal Farm', year: 1945 }],
    ['(1945) - Animal Farm', ['George Orwell'], { title: 'Animal Farm', year: 1945 }],
    ['Animal Farm (1945)', ['George Orwell'], { title: 'Animal Farm', year: 1945 }],
    ['1984', ['George Orwell'], { title: '1984' }],
    ['Wizards First Rule [B002V0QK4C]', SERIES, { title: 'Wizards First Rule', series: truth() }],
    ...[
      'Book 1 - Wizards First Rule',
      'Vol 1 - Wizards First Rule',
      'Vol. 1 Wizards First Rule',
      'Volume 1. Wizards First Rule',
      '1 - Wizards First Rule',
      '01 - Wizards First Rule',
      '1. Wizards First Rule',
      'Wizards First Rule - Vol 1',
      'Wizards First Rule - volume 1 - A Subtitle',
      '#1 - Wizards First Rule',
    ].map((name): [string, string[], object] => [name, SERIES, { title: 'Wizards First Rule', series: truth('1') }]),
    [
      'Vol 1 - 1994 - Wizards First Rule {Sam Tsoutsouvas}',
      SERIES,
      { title: 'Wizards First Rule', year: 1994, series: truth('1') },
    ],
    ['1994 - Book 1 - Wizards First Rule', SERIES, { title: 'Wizards First Rule', year: 1994, series: truth('1') }],
    ['0.5 - Debt of Bones', SERIES, { title: 'Debt of Bones', series: truth('0.5') }],
    ['101 Dalmatians', ['Dodie Smith', 'Dalmatians'], { title: '101 Dalmatians' }],
  ];
  for (const [folder, around, want] of folders)
    it(`${[...around, folder].join('/')}`, () => {
      const { author, ...read } = readBookFolder(folder, around);
      expect(author).to.equal(around[0]);
      expect(read).to.deep.include(want);
    });

  it('is read by itself without folders around it', () => {
    expect(readBookFolder('Jane Austen - Emma (1815)', [])).to.deep.equal(
      readBookName('Jane Austen - Emma (1815)', []),
    );
  });

  it('names the author whom the name of a file ends with', () => {
    const emma = readBookName('Emma - Jane Austen', ['Jane Austen', 'Emma (12)']);
    expect(emma).to.include({ title: 'Emma', author: 'Jane Austen' });
  });

  it('is read in linear time', () => {
    for (const part of ['{', '[B0', ' - ', 'Vol. ', '1. ', '(']) readBookFolder(part.repeat(200_000), ['A', 'B']);
  });
});
