// Addresses of the inside as URLs, and paths that lead out of a folder.
import { INSIDE_SPELLINGS } from './spellings.ts';

const OTHERS = [
  ...['0', '0.0.0.0', '0x0', '[::]', '[::1]', '[0:0:0:0:0:0:0:1]', '[0000::0001]', '[::0:1]', '[fe80::1]', '[fc00::1]'],
  ...[
    '[fd00:ec2::254]',
    '[ff02::1]',
    '[fec0::1]',
    '[2001:db8::1]',
    '[3fff::1]',
    '192.0.0.1',
    '192.0.2.1',
    '198.18.0.1',
  ],
  ...['198.51.100.1', '203.0.113.1', '224.0.0.1', '240.0.0.1', '255.255.255.255'],
  ...['localhost', 'LOCALHOST', 'localhost.', 'a.localhost', 'ｌocalhost', '𝐥𝐨𝐜𝐚𝐥𝐡𝐨𝐬𝐭', 'loc%61lhost'],
  ...['foyer-api.media.svc', 'foyer-postgres.media.svc.cluster.local', 'a.cluster.local'],
];

/** URLs in which a careless reader finds another host. */
const CONFUSED = (port: string): string[] => [
  ...[
    `http://films.example@127.0.0.1${port}/`,
    `http://user:pass@127.0.0.1${port}/`,
    `http://127.0.0.1${port}\\@films.example/`,
  ],
  ...[
    `http:\\\\127.0.0.1${port}\\`,
    `http:/127.0.0.1${port}/`,
    `http:127.0.0.1${port}/`,
    `http://127.0.0.1${port}/?@films.example/`,
  ],
  ...[
    `http://127.0.0.1${port}#films.example`,
    `\thttp://127.0.0.1${port}/`,
    `http://127.0\t.0.1${port}/`,
    `HTTP://127.0.0.1${port}/`,
  ],
];

/** At least 220 addresses of the inside, each with this port when one is given. */
export function innerAddresses(port?: number): string[] {
  const end = port === undefined ? '' : `:${port}`;
  const hosts = [...new Set([...INSIDE_SPELLINGS, ...OTHERS])];
  return [...hosts.map((host) => `http://${host}${end}/`), ...CONFUSED(end)];
}

const UPS = [
  ...['../', '..\\', '..%2f', '..%5c', '%2e%2e/', '%2e%2e%2f', '%2e%2e%5c', '..%252f', '....//', '....\\\\', './../'],
  ...[
    '.././',
    'x/../../',
    '..;/',
    '..%c0%af',
    '..%e0%80%af',
    '..\u2215',
    '..\u2044',
    '\uff0e\uff0e/',
    '..//',
    '\u2024\u2024/',
    '.%00./',
  ],
];

/** At least 160 paths that lead to `name` above a folder, or seem to. */
export function climbs(name: string): string[] {
  const up = UPS.flatMap((step) => [1, 2, 3, 8].map((times) => `${step.repeat(times)}${name}`));
  const within = UPS.flatMap((step) => [`films/${step}${step}${name}`, `${step}media-private/${name}`]);
  const ends = ['\0', '\0.jpg', '%00.jpg', '.', ' ', '/', '/.', ':x'].flatMap((end) => [
    `../${name}${end}`,
    `films/../../${name}${end}`,
  ]);
  const absolute = [
    ...[
      '/etc/passwd',
      '//etc/passwd',
      '\\etc\\passwd',
      'C:\\x',
      'C:/x',
      '\\\\host\\share',
      'file:///etc/passwd',
      '/proc/self/environ',
    ],
    ...['~/x', '~root/x', '/dev/stdin', '/dev/fd/0', '..', '.', './..', '../', '.../x', 'a\0b', '/'],
  ];
  return [...up, ...within, ...ends, ...absolute];
}
