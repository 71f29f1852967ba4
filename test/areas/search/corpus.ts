// A made library and what a person types to find something in it.

export interface Known {
  title: string;
  original?: string;
  year?: number;
  people?: readonly string[];
  tags?: readonly string[];
  overview?: string;
}

/** Films. */
export const films: readonly Known[] = [
  { title: 'The Matrix', year: 1999, people: ['Keanu Reeves', 'Carrie-Anne Moss'], tags: ['Science Fiction'] },
  { title: 'The Matrix Reloaded', year: 2003, people: ['Keanu Reeves'] },
  { title: 'Rocky', year: 1976, people: ['Sylvester Stallone'] },
  { title: 'Rocky II', year: 1979, people: ['Sylvester Stallone'] },
  { title: 'Rocky IV', year: 1985, people: ['Sylvester Stallone', 'Dolph Lundgren'] },
  { title: 'Spider-Man: No Way Home', year: 2021 },
  { title: 'Batman Begins', year: 2005, people: ['Christian Bale'] },
  { title: 'The Dark Knight', year: 2008, people: ['Christian Bale', 'Heath Ledger'] },
  { title: 'Amélie', original: 'Le Fabuleux Destin d’Amélie Poulain', year: 2001, people: ['Audrey Tautou'] },
  { title: 'Spirited Bathhouse', original: '千と千尋の神隠し', year: 2001, people: ['宮崎 駿'] },
  { title: 'Das Boot', year: 1981, people: ['Jürgen Prochnow'], tags: ['War'] },
  { title: 'The Good, the Bad and the Ugly', original: 'Il buono, il brutto, il cattivo', year: 1966 },
  { title: 'Lilo & Stitch', year: 2002 },
  { title: 'Ocean’s Eleven', year: 2001, people: ['George Clooney', 'Brad Pitt'] },
  { title: 'S.W.A.T.', year: 2003 },
  { title: 'E.T. the Extra-Terrestrial', year: 1982 },
  { title: 'WALL·E', year: 2008, tags: ['Animation'] },
  { title: 'Léon: The Professional', year: 1994, people: ['Jean Reno', 'Natalie Portman'] },
  { title: 'Crouching Tiger, Hidden Dragon', original: '臥虎藏龍', year: 2000 },
  { title: 'Solaris', original: 'Солярис', year: 1972 },
  { title: 'Stalker', original: 'Сталкер', year: 1979 },
  { title: 'Schindler’s List', year: 1993, people: ['Liam Neeson'] },
  {
    title: 'Interstellar',
    year: 2014,
    people: ['Matthew McConaughey'],
    overview: 'Explorers travel through a wormhole near Saturn.',
  },
  { title: 'Inception', year: 2010, people: ['Leonardo DiCaprio'] },
  { title: 'The Silence of the Lambs', year: 1991, people: ['Jodie Foster', 'Anthony Hopkins'] },
  { title: 'Back to the Future Part III', year: 1990, people: ['Michael J. Fox'] },
  { title: 'Star Wars: Episode V - The Empire Strikes Back', year: 1980, people: ['Harrison Ford'] },
  { title: '2001: A Space Odyssey', year: 1968 },
  { title: 'Dr. Strangelove', year: 1964, people: ['Peter Sellers'] },
  { title: 'La vita è bella', original: 'Life Is Beautiful', year: 1997 },
  { title: 'L’Avventura', year: 1960, people: ['Monica Vitti'] },
  { title: 'Der Untergang', original: 'Downfall', year: 2004, people: ['Bruno Ganz'] },
  { title: 'El laberinto del fauno', original: 'Pan’s Labyrinth', year: 2006 },
  { title: 'Fast & Furious', year: 2009 },
  { title: 'Se7en', year: 1995, people: ['Brad Pitt', 'Morgan Freeman'] },
  { title: 'Up', year: 2009 },
  { title: 'It', year: 2017 },
  { title: 'Mad Max: Fury Road', year: 2015, people: ['Tom Hardy', 'Charlize Theron'] },
  { title: 'Ghostbusters', year: 1984, people: ['Bill Murray'] },
  { title: 'Pirates of the Caribbean: The Curse of the Black Pearl', year: 2003, people: ['Johnny Depp'] },
  {
    title: 'The Lighthouse',
    year: 2019,
    people: ['Willem Dafoe'],
    overview: 'Two keepers lose their sanity on a remote island.',
  },
  { title: 'Nosferatu', original: 'Nosferatu, eine Symphonie des Grauens', year: 1922, people: ['Max Schreck'] },
  { title: 'Metropolis', year: 1927, tags: ['Silent'] },
  { title: 'Casablanca', year: 1942, people: ['Humphrey Bogart', 'Ingrid Bergman'] },
];

export const shows: readonly { title: string; episodes: readonly string[] }[] = [
  { title: 'The Lodge', episodes: ['Snow', 'The Cellar', 'A Visitor from Hamburg'] },
  { title: 'Breaking Waves', episodes: ['Pilot', 'The Long Tide', 'Driftwood'] },
  { title: 'Kommissar Röder', episodes: ['Der Fremde', 'Nachtzug nach Linz'] },
  { title: 'M*A*S*H', episodes: ['Radar’s Report', 'The Winchester Cousin'] },
];

/** Sentences of films, by title. */
export const spoken: readonly (readonly [film: string, line: string])[] = [
  ['Casablanca', 'Of all the gin joints in all the towns in all the world'],
  ['Casablanca', 'Round up the usual suspects'],
  ['The Lighthouse', 'Why have you spilled your beans'],
  ['Das Boot', 'Nicht zu fassen, wir leben noch'],
  ['Nosferatu', 'Your wife has a lovely neck'],
];

type Case = readonly [question: string, title: string];

/** Questions that somebody wrote down. */
const written: readonly Case[] = [
  ['keanu reeves matrix', 'The Matrix'],
  ['rocky 2', 'Rocky II'],
  ['rocky ii', 'Rocky II'],
  ['rocky 4', 'Rocky IV'],
  ['rocky lundgren', 'Rocky IV'],
  ['spiderman', 'Spider-Man: No Way Home'],
  ['spider man', 'Spider-Man: No Way Home'],
  ['spider-man no way', 'Spider-Man: No Way Home'],
  ['bat man begins', 'Batman Begins'],
  ['dark knight', 'The Dark Knight'],
  ['heath ledger', 'Heath Ledger'],
  ['amelie', 'Amélie'],
  ['amélie poulain', 'Amélie'],
  ['fabuleux destin', 'Amélie'],
  ['千と千尋', 'Spirited Bathhouse'],
  ['神隠し', 'Spirited Bathhouse'],
  ['千尋の神隠し', 'Spirited Bathhouse'],
  ['宮崎駿', '宮崎 駿'],
  ['臥虎', 'Crouching Tiger, Hidden Dragon'],
  ['臥虎藏龍', 'Crouching Tiger, Hidden Dragon'],
  ['солярис', 'Solaris'],
  ['СТАЛКЕР', 'Stalker'],
  ['сталкре', 'Stalker'],
  ['boot', 'Das Boot'],
  ['jurgen prochnow', 'Jürgen Prochnow'],
  ['the good the bad the ugly', 'The Good, the Bad and the Ugly'],
  ['good bad & ugly', 'The Good, the Bad and the Ugly'],
  ['buono brutto cattivo', 'The Good, the Bad and the Ugly'],
  ['lilo and stitch', 'Lilo & Stitch'],
  ['lilo & stitch', 'Lilo & Stitch'],
  ['lilo + stitch', 'Lilo & Stitch'],
  ['lilo stich', 'Lilo & Stitch'],
  ['oceans eleven', 'Ocean’s Eleven'],
  ["ocean's eleven", 'Ocean’s Eleven'],
  ['ocean eleven', 'Ocean’s Eleven'],
  ['clooney pitt', 'Ocean’s Eleven'],
  ['swat', 'S.W.A.T.'],
  ['s.w.a.t', 'S.W.A.T.'],
  ['et', 'E.T. the Extra-Terrestrial'],
  ['e.t.', 'E.T. the Extra-Terrestrial'],
  ['extra terrestrial', 'E.T. the Extra-Terrestrial'],
  ['extraterrestrial', 'E.T. the Extra-Terrestrial'],
  ['wall-e', 'WALL·E'],
  ['walle', 'WALL·E'],
  ['wall e', 'WALL·E'],
  ['leon', 'Léon: The Professional'],
  ['léon', 'Léon: The Professional'],
  ['professional leon', 'Léon: The Professional'],
  ['tiger dragon', 'Crouching Tiger, Hidden Dragon'],
  ['hidden dragon', 'Crouching Tiger, Hidden Dragon'],
  ['schindlers list', 'Schindler’s List'],
  ['schindler', 'Schindler’s List'],
  ['wormhole saturn', 'Interstellar'],
  ['leonardo di caprio', 'Leonardo DiCaprio'],
  ['dicaprio', 'Leonardo DiCaprio'],
  ['inception 2010', 'Inception'],
  ['silence lambs', 'The Silence of the Lambs'],
  ['silence of lambs', 'The Silence of the Lambs'],
  ['back to the future 3', 'Back to the Future Part III'],
  ['back to the future part 3', 'Back to the Future Part III'],
  ['empire strikes back', 'Star Wars: Episode V - The Empire Strikes Back'],
  ['star wars 5', 'Star Wars: Episode V - The Empire Strikes Back'],
  ['star wars v', 'Star Wars: Episode V - The Empire Strikes Back'],
  ['starwars', 'Star Wars: Episode V - The Empire Strikes Back'],
  ['space odyssey', '2001: A Space Odyssey'],
  ['2001', '2001: A Space Odyssey'],
  ['dr strangelove', 'Dr. Strangelove'],
  ['life is beautiful', 'La vita è bella'],
  ['vita e bella', 'La vita è bella'],
  ['avventura', 'L’Avventura'],
  ["l'avventura", 'L’Avventura'],
  ['lavventura', 'L’Avventura'],
  ['untergang', 'Der Untergang'],
  ['downfall', 'Der Untergang'],
  ['pans labyrinth', 'El laberinto del fauno'],
  ['laberinto fauno', 'El laberinto del fauno'],
  ['fast and furious', 'Fast & Furious'],
  ['fast furious', 'Fast & Furious'],
  ['se7en', 'Se7en'],
  ['up', 'Up'],
  ['it', 'It'],
  ['fury road', 'Mad Max: Fury Road'],
  ['madmax', 'Mad Max: Fury Road'],
  ['ghost busters', 'Ghostbusters'],
  ['pirates caribbean', 'Pirates of the Caribbean: The Curse of the Black Pearl'],
  ['black pearl', 'Pirates of the Caribbean: The Curse of the Black Pearl'],
  ['johnny depp', 'Johnny Depp'],
  ['jonny depp', 'Johnny Depp'],
  ['remote island keepers', 'The Lighthouse'],
  ['"symphonie des grauens"', 'Nosferatu'],
  ['schreck', 'Max Schreck'],
  ['silent', 'Metropolis'],
  ['matrix -reloaded', 'The Matrix'],
  ['matrix year:2003', 'The Matrix Reloaded'],
  ['mash', 'M*A*S*H'],
  ['m*a*s*h', 'M*A*S*H'],
  ['winchester cousin', 'The Winchester Cousin'],
  ['kommissar roder', 'Kommissar Röder'],
  ['nachtzug linz', 'Nachtzug nach Linz'],
  ['visitor from hamburg', 'A Visitor from Hamburg'],
  ['lodge snow', 'Snow'],
  ['driftwod', 'Driftwood'],
  ['breaking waves pilot', 'Pilot'],
  ['lodge', 'The Lodge'],
];

/** Questions for the words of films. */
export const quotes: readonly Case[] = [
  ['gin joints', 'Casablanca'],
  ['gin joint', 'Casablanca'],
  ['usual suspects', 'Casablanca'],
  ['round up the usual suspects', 'Casablanca'],
  ['"all the towns"', 'Casablanca'],
  ['spilled beans', 'The Lighthouse'],
  ['spill your beans', 'The Lighthouse'],
  ['wir leben noch', 'Das Boot'],
  ['lovely neck', 'Nosferatu'],
  ['wife neck', 'Nosferatu'],
];

const plain = (title: string): string =>
  title.normalize('NFKD').replace(/\p{M}/gu, '').replace(/[’']/g, '').toLowerCase();

/** The longest word of a title with a change. */
function mistaken(title: string, change: (word: string) => string): string | undefined {
  const words = plain(title)
    .split(/[^a-z0-9]+/)
    .filter(Boolean);
  const longest = words.reduce((most, word) => (word.length > most.length ? word : most), '');
  return longest.length < 6 ? undefined : words.map((word) => (word === longest ? change(word) : word)).join(' ');
}

/** What people do with every title: write it small, leave the article, stop early, and make one mistake. */
function made({ title }: { title: string }): Case[] {
  const small = plain(title);
  const middle = (word: string): number => Math.floor(word.length / 2);
  const swapped = mistaken(
    title,
    (word) =>
      word.slice(0, middle(word) - 1) + word[middle(word)] + word[middle(word) - 1] + word.slice(middle(word) + 1),
  );
  const missing = mistaken(title, (word) => word.slice(0, middle(word)) + word.slice(middle(word) + 1));
  const doubled = mistaken(
    title,
    (word) => word.slice(0, middle(word)) + word[middle(word)] + word.slice(middle(word)),
  );
  const begun = small.length > 8 ? small.slice(0, Math.ceil(small.length * 0.7)) : undefined;
  const questions = [small, title, small.replace(/^(the|das|der|el|la) /, ''), begun, swapped, missing, doubled];
  return [...new Set(questions.filter((one): one is string => one !== undefined))].map((one) => [one, title]);
}

export const questions: readonly Case[] = [
  ...written,
  ...[...films, ...shows].flatMap(made),
  ...films
    .flatMap(({ people = [] }) => people)
    .filter((name, i, all) => all.indexOf(name) === i)
    .flatMap((name): Case[] => [[plain(name), name]]),
];
