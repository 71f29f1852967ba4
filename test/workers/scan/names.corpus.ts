/** Names as people and tools write them, and their meaning. */

export type TitleCase = readonly [name: string, title: string, year?: number, edition?: string];

export const titles: readonly TitleCase[] = [
  ['The Matrix (1999)', 'The Matrix', 1999],
  ['The.Matrix.1999.1080p.BluRay.x264.DTS-HD.MA.5.1', 'The Matrix', 1999],
  ['The_Matrix_(1999)', 'The Matrix', 1999],
  ['Blade Runner 2049 (2017)', 'Blade Runner 2049', 2017],
  ['Blade.Runner.2049.2017.2160p.UHD.BluRay.x265-TERMiNAL', 'Blade Runner 2049', 2017],
  ['2001 A Space Odyssey (1968)', '2001 A Space Odyssey', 1968],
  ['2001.A.Space.Odyssey.1968.1080p.BluRay', '2001 A Space Odyssey', 1968],
  ['2012 (2009)', '2012', 2009],
  ['2012.2009.720p.BluRay.x264', '2012', 2009],
  ['1917 (2019)', '1917', 2019],
  ['300 (2006)', '300', 2006],
  ['12 Monkeys (1995)', '12 Monkeys', 1995],
  ['Se7en.1995.REMASTERED.1080p.BluRay.x264-GRP', 'Se7en', 1995, 'Remastered'],
  ["Alien (1979) {edition-Director's Cut}", 'Alien', 1979, "Director's Cut"],
  ['Aliens (1986) [imdbid-tt0090605]', 'Aliens', 1986],
  ['Aliens [tmdbid-679] (1986)', 'Aliens', 1986],
  ['Heat (1995) [tmdbid=949]', 'Heat', 1995],
  ['Heat (1995) {tmdb-949}', 'Heat', 1995],
  ['Heat (1995) [tt0113277]', 'Heat', 1995],
  ['Amélie (2001)', 'Amélie', 2001],
  ["Le Fabuleux Destin d'Amélie Poulain (2001)", "Le Fabuleux Destin d'Amélie Poulain", 2001],
  ['千と千尋の神隠し (2001)', '千と千尋の神隠し', 2001],
  ['فيلم عربي (2004)', 'فيلم عربي', 2004],
  ['Москва слезам не верит (1980)', 'Москва слезам не верит', 1980],
  ['WALL·E (2008)', 'WALL·E', 2008],
  ['WALL-E (2008)', 'WALL-E', 2008],
  ['Spider-Man: No Way Home (2021)', 'Spider-Man: No Way Home', 2021],
  ['Spider-Man.No.Way.Home.2021.2160p.WEB-DL.DDP5.1.Atmos.HDR.HEVC', 'Spider-Man No Way Home', 2021],
  ['(500) Days of Summer (2009)', '(500) Days of Summer', 2009],
  ['Dr. Strangelove (1964)', 'Dr. Strangelove', 1964],
  ['Mr. & Mrs. Smith (2005)', 'Mr. & Mrs. Smith', 2005],
  ['[REC] (2007)', '[REC]', 2007],
  ['Birdman or (The Unexpected Virtue of Ignorance) (2014)', 'Birdman or (The Unexpected Virtue of Ignorance)', 2014],
  ['8½ (1963)', '8½', 1963],
  ['Metropolis (1927)', 'Metropolis', 1927],
  ['A Trip to the Moon (1902)', 'A Trip to the Moon', 1902],
  ['Big Buck Bunny', 'Big Buck Bunny'],
  ['big_buck_bunny', 'big buck bunny'],
  ['Big.Buck.Bunny.2008.1080p', 'Big Buck Bunny', 2008],
  ['Sintel (2010) 4K', 'Sintel', 2010],
  ['Sintel (2010) [1080p]', 'Sintel', 2010],
  ['Tears of Steel (2012) - 2160p', 'Tears of Steel', 2012],
  [
    'The Lord of the Rings The Fellowship of the Ring (2001) Extended',
    'The Lord of the Rings The Fellowship of the Ring',
    2001,
    'Extended Edition',
  ],
  [
    'The.Lord.of.the.Rings.The.Two.Towers.2002.EXTENDED.1080p',
    'The Lord of the Rings The Two Towers',
    2002,
    'Extended Edition',
  ],
  ['Nausicaä of the Valley of the Wind (1984)', 'Nausicaä of the Valley of the Wind', 1984],
  ['Léon The Professional 1994 1080p', 'Léon The Professional', 1994],
  ["Ocean's Eleven (2001)", "Ocean's Eleven", 2001],
  ['tick, tick... BOOM! (2021)', 'tick, tick... BOOM!', 2021],
  ['Up (2009)', 'Up', 2009],
  ['It (2017)', 'It', 2017],
  ['M (1931)', 'M', 1931],
  ['X (2022)', 'X', 2022],
  ['home video 3', 'home video 3'],
  ['IMG_1234', 'IMG 1234'],
  ['Emoji 🎬👩‍🚀 (2003)', 'Emoji 🎬👩‍🚀', 2003],
  ['Avatar (2009) 3D', 'Avatar', 2009],
  ['Blade Runner (1982) {edition-The Final Cut} [imdbid-tt0083658]', 'Blade Runner', 1982, 'The Final Cut'],
  ["Justice League (2021) {edition-Zack Snyder's Cut}", 'Justice League', 2021, "Zack Snyder's Cut"],
  ['Fargo (1996-)', 'Fargo', 1996],
];

export interface FolderCase {
  folder: string;
  videos: string[];
  films: { title: string; year?: number; files: (string | [name: string, label: string])[]; parts?: true }[];
  extras?: [name: string, kind: string][];
}

export const folders: readonly FolderCase[] = [
  {
    folder: 'Heat (1995)',
    videos: ['Heat (1995).mkv'],
    films: [{ title: 'Heat', year: 1995, files: ['Heat (1995).mkv'] }],
  },
  { folder: 'Heat (1995)', videos: ['abc123.mkv'], films: [{ title: 'Heat', year: 1995, files: ['abc123.mkv'] }] },
  {
    folder: 'Heat (1995)',
    videos: ['Heat (1995) - 1080p.mkv', 'Heat (1995) - 2160p.mkv', 'Heat (1995) - 480p.mkv'],
    films: [
      {
        title: 'Heat',
        year: 1995,
        files: [
          ['Heat (1995) - 2160p.mkv', '2160p'],
          ['Heat (1995) - 1080p.mkv', '1080p'],
          ['Heat (1995) - 480p.mkv', '480p'],
        ],
      },
    ],
  },
  {
    folder: 'Alien (1979)',
    videos: ['Alien (1979) - Theatrical.mkv', 'Alien (1979) - Directors Cut.mkv'],
    films: [
      {
        title: 'Alien',
        year: 1979,
        files: [
          ['Alien (1979) - Directors Cut.mkv', 'Directors Cut'],
          ['Alien (1979) - Theatrical.mkv', 'Theatrical'],
        ],
      },
    ],
  },
  {
    folder: 'Alien (1979)',
    videos: ['Alien (1979) {edition-Final}.mkv', 'Alien (1979) [1080p].mkv'],
    films: [
      {
        title: 'Alien',
        year: 1979,
        files: [
          ['Alien (1979) [1080p].mkv', '1080p'],
          ['Alien (1979) {edition-Final}.mkv', 'Final'],
        ],
      },
    ],
  },
  {
    folder: 'Long (2000)',
    videos: ['Long (2000) cd2.avi', 'Long (2000) cd1.avi'],
    films: [{ title: 'Long', year: 2000, files: ['Long (2000) cd1.avi', 'Long (2000) cd2.avi'], parts: true }],
  },
  {
    folder: 'Long (2000)',
    videos: ['Long.2000.part-a.avi', 'Long.2000.part-b.avi', 'Long.2000.part-c.avi'],
    films: [
      {
        title: 'Long',
        year: 2000,
        files: ['Long.2000.part-a.avi', 'Long.2000.part-b.avi', 'Long.2000.part-c.avi'],
        parts: true,
      },
    ],
  },
  {
    folder: 'Long (2000)',
    videos: ['Long (2000) - pt1.mkv', 'Long (2000) - pt2.mkv'],
    films: [{ title: 'Long', year: 2000, files: ['Long (2000) - pt1.mkv', 'Long (2000) - pt2.mkv'], parts: true }],
  },
  {
    folder: 'Star Wars Collection',
    videos: ['Star Wars (1977).mkv', 'The Empire Strikes Back (1980).mkv'],
    films: [
      { title: 'Star Wars', year: 1977, files: ['Star Wars (1977).mkv'] },
      { title: 'The Empire Strikes Back', year: 1980, files: ['The Empire Strikes Back (1980).mkv'] },
    ],
  },
  {
    folder: '',
    videos: ['Sintel (2010).mkv', 'Big Buck Bunny (2008).mp4', 'Big Buck Bunny (2008) - 4K.mp4'],
    films: [
      { title: 'Sintel', year: 2010, files: ['Sintel (2010).mkv'] },
      {
        title: 'Big Buck Bunny',
        year: 2008,
        files: [
          ['Big Buck Bunny (2008) - 4K.mp4', '2160p'],
          ['Big Buck Bunny (2008).mp4', 'Big Buck Bunny (2008)'],
        ],
      },
    ],
  },
  {
    folder: '',
    videos: ['Sintel.2010.1080p.mkv'],
    films: [{ title: 'Sintel', year: 2010, files: [['Sintel.2010.1080p.mkv', '1080p']] }],
  },
  {
    folder: 'Up (2009)',
    videos: [
      'Up (2009).mkv',
      'Up (2009)-trailer.mp4',
      'Up (2009)-behindthescenes.mkv',
      'trailer.mp4',
      'sample.mkv',
      'How-deleted.mkv',
    ],
    films: [{ title: 'Up', year: 2009, files: ['Up (2009).mkv'] }],
    extras: [
      ['Up (2009)-trailer.mp4', 'trailer'],
      ['Up (2009)-behindthescenes.mkv', 'behind-the-scenes'],
      ['trailer.mp4', 'trailer'],
      ['sample.mkv', 'sample'],
      ['How-deleted.mkv', 'deleted-scene'],
    ],
  },
  {
    folder: 'Movies from grandma',
    videos: ['Casablanca.mkv'],
    films: [{ title: 'Casablanca', files: ['Casablanca.mkv'] }],
  },
  {
    folder: 'Casablanca',
    videos: ['Casablanca.1942.mkv'],
    films: [{ title: 'Casablanca', year: 1942, files: ['Casablanca.1942.mkv'] }],
  },
  {
    folder: 'Crash (1996)',
    videos: ['Crash (2004).mkv'],
    films: [{ title: 'Crash', year: 1996, files: ['Crash (2004).mkv'] }],
  },
  {
    folder: 'Dune',
    videos: ['Dune (1984).mkv', 'Dune (2021).mkv'],
    films: [
      { title: 'Dune', year: 1984, files: ['Dune (1984).mkv'] },
      { title: 'Dune', year: 2021, files: ['Dune (2021).mkv'] },
    ],
  },
];

/** `season x number[-end]`, or a date. */
export type EpisodeCase = readonly [path: string, show: string, at: string, title?: string];

export const episodes: readonly EpisodeCase[] = [
  ['Firefly/Season 1/Firefly - S01E02 - The Train Job.mkv', 'Firefly', '1x2', 'The Train Job'],
  ['Firefly (2002)/Season 01/Firefly S01E02.mkv', 'Firefly', '1x2'],
  ['Firefly (2002)/Firefly.S01E03.Bushwhacked.720p.BluRay.mkv', 'Firefly', '1x3', 'Bushwhacked'],
  ['Firefly/Season 1/S01E02.mkv', 'Firefly', '1x2'],
  ['Firefly/Season 1/02 - The Train Job.mkv', 'Firefly', '1x2', 'The Train Job'],
  ['Firefly/Season 1/02.mkv', 'Firefly', '1x2'],
  ['Firefly/Season 1/Episode 2.mkv', 'Firefly', '1x2'],
  ['Firefly/Season 1/E02.mkv', 'Firefly', '1x2'],
  ['Firefly/Season 1/ep.02.The Train Job.mkv', 'Firefly', '1x2', 'The Train Job'],
  ['Firefly/Season 1/Firefly 1x02 The Train Job.mkv', 'Firefly', '1x2', 'The Train Job'],
  ['Firefly/S01/Firefly.s01e02.mkv', 'Firefly', '1x2'],
  ['Firefly/Season 01/Firefly S01E01-E02.mkv', 'Firefly', '1x1-2'],
  ['Firefly/Season 01/Firefly S01E01E02.mkv', 'Firefly', '1x1-2'],
  ['Firefly/Season 01/Firefly S01E01-02.mkv', 'Firefly', '1x1-2'],
  ['Firefly/Season 01/Firefly S01E01E02E03.mkv', 'Firefly', '1x1-3'],
  ['Firefly/Season 01/Firefly 1x01-02.mkv', 'Firefly', '1x1-2'],
  ['Firefly/Specials/Firefly S00E01 Making Of.mkv', 'Firefly', '0x1', 'Making Of'],
  ['Firefly/Season 00/01 - Making Of.mkv', 'Firefly', '0x1', 'Making Of'],
  ['Firefly.S01E02.1080p.WEB-DL.mkv', 'Firefly', '1x2'],
  ['Firefly - 1x02.mkv', 'Firefly', '1x2'],
  ['Firefly.S01.1080p.BluRay-GRP/Firefly.S01E02.1080p.BluRay-GRP.mkv', 'Firefly', '1x2'],
  ['Firefly/Season 1/Firefly.S01E02.1080p-GRP/xyz.S01E02.mkv', 'Firefly', '1x2'],
  ['Anime/One Piece/Season 1/One Piece S01E05.mkv', 'One Piece', '1x5'],
  ['One Piece/One Piece - 1001.mkv', 'One Piece', '1x1001'],
  ['One Piece/[SubsPlease] One Piece - 1001 (1080p) [ABCD1234].mkv', 'One Piece', '1x1001'],
  ['[SubsPlease] Jujutsu Kaisen - 24 (1080p) [A1B2C3D4].mkv', 'Jujutsu Kaisen', '1x24'],
  ['The Daily Show/The Daily Show 2020-05-17 Guest Name.mkv', 'The Daily Show', '2020-05-17', 'Guest Name'],
  ['The Daily Show/Season 2020/The.Daily.Show.2020.05.17.720p.mkv', 'The Daily Show', '2020-05-17'],
  ['24/Season 1/24 S01E03.mkv', '24', '1x3'],
  ['The 100/Season 2/The 100 S02E03.mkv', 'The 100', '2x3'],
  ['1923/Season 1/1923 S01E01.mkv', '1923', '1x1'],
  ['The Office (US)/Season 2/The Office (US) S02E03 The Fire.mkv', 'The Office (US)', '2x3', 'The Fire'],
  [
    'Doctor Who (2005)/Season 5/Doctor Who (2005) - S05E01 - The Eleventh Hour.mkv',
    'Doctor Who',
    '5x1',
    'The Eleventh Hour',
  ],
  ['Dark/Staffel 2/Dark - Folge 3.mkv', 'Dark', '2x3'],
  ['Lupin/Saison 1/Lupin S01E02.mkv', 'Lupin', '1x2'],
  ['La Casa de Papel/Temporada 1/1x03.mkv', 'La Casa de Papel', '1x3'],
  ['進撃の巨人/Season 1/進撃の巨人 S01E01.mkv', '進撃の巨人', '1x1'],
  ['Show/Season 10/Show S10E100.mkv', 'Show', '10x100'],
  ['Show [tvdbid-12345]/Season 1/Show S01E01.mkv', 'Show', '1x1'],
  [
    'Planet Earth II (2016) {tvdb-318408}/Season 01/Planet Earth II S01E01 Islands.mkv',
    'Planet Earth II',
    '1x1',
    'Islands',
  ],
  [
    "Grey's Anatomy/Season 1/Grey's Anatomy S01E01 A Hard Day's Night.mkv",
    "Grey's Anatomy",
    '1x1',
    "A Hard Day's Night",
  ],
  ['Band of Brothers/Part 1/Band of Brothers E01.mkv', 'Band of Brothers', '1x1'],
  ['Naruto/Naruto - 001v2.mkv', 'Naruto', '1x1'],
  ['Show/Season 1/Show.s1e5.mkv', 'Show', '1x5'],
  ['Show/Season 1/Show S01 E05.mkv', 'Show', '1x5'],
  ['Show/Season 1/Show.S01.E05.mkv', 'Show', '1x5'],
];

export const noEpisodes: readonly string[] = [
  'Show/Season 1/Interview with somebody.mkv',
  'Pilot.mkv',
  'Firefly/random name.mkv',
];

export const showExtras: readonly (readonly [path: string, show: string, kind: string])[] = [
  ['Firefly/Extras/Gag Reel.mkv', 'Firefly', 'other'],
  ['Firefly/Season 1/Behind the Scenes/Making of S01.mkv', 'Firefly', 'behind-the-scenes'],
  ['Firefly/trailers/Teaser.mp4', 'Firefly', 'trailer'],
  ['Firefly/Season 1/Firefly S01E01-trailer.mkv', 'Firefly', 'trailer'],
];

/** `[file, video's name, language, flags, title]`, flags of d(efault) f(orced) h(earing impaired). */
export type SidecarCase = readonly [
  name: string,
  video: string,
  language: string | undefined,
  flags: string,
  title?: string,
];

export const sidecars: readonly SidecarCase[] = [
  ['Film.srt', 'Film', undefined, ''],
  ['Film.en.srt', 'Film', 'en', ''],
  ['Film.eng.srt', 'Film', 'en', ''],
  ['Film.English.srt', 'Film', 'en', ''],
  ['Film.fre.srt', 'Film', 'fr', ''],
  ['Film.pt-BR.srt', 'Film', 'pt-BR', ''],
  ['Film.zh-Hans.ass', 'Film', 'zh-Hans', ''],
  ['Film.en.forced.srt', 'Film', 'en', 'f'],
  ['Film.forced.en.srt', 'Film', 'en', 'f'],
  ['Film.en.foreign.srt', 'Film', 'en', 'f'],
  ['Film.en.sdh.srt', 'Film', 'en', 'h'],
  ['Film.en.cc.srt', 'Film', 'en', 'h'],
  ['Film.en.hi.srt', 'Film', 'en', 'h'],
  ['Film.hi.srt', 'Film', 'hi', ''],
  ['Film.hi.forced.srt', 'Film', 'hi', 'f'],
  ['Film.default.en.srt', 'Film', 'en', 'd'],
  ['Film.en.default.forced.srt', 'Film', 'en', 'df'],
  ["Film.Director's notes.en.srt", 'Film', 'en', '', "Director's notes"],
  ['Film.en.Commentary.srt', 'Film', 'en', '', 'Commentary'],
  ['Film (2000) [1080p].de.ass', 'Film (2000) [1080p]', 'de', ''],
  ['Film.de.sup', 'Film', 'de', ''],
  ['Film.de.ac3', 'Film', 'de', ''],
];

export const notSidecars: readonly (readonly [name: string, video: string])[] = [
  ['Film 2.en.srt', 'Filmed'],
  ['Other.en.srt', 'Film'],
  ['Films.en.srt', 'Film'],
  ['Film.jpg', 'Film'],
];
