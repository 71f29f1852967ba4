/** Game platforms, by which folders and extensions a scan knows them. Only added to: their ids are stored with games. */

export interface GamePlatformSpec {
  id: string;
  name: string;
  maker: string;
  year: number;
  /** Names of folders in lower case without signs: `Super Nintendo` is `supernintendo`. */
  folders: readonly string[];
  extensions: readonly string[];
}

const ARCHIVES = ['zip', '7z'];
const DISCS = ['cue', 'chd', 'iso', 'm3u'];

type Line = readonly [id: string, name: string, maker: string, year: number, folders: string, extensions: string];

const LINES: readonly Line[] = [
  ['nes', 'Nintendo Entertainment System', 'Nintendo', 1983, 'nes famicom nintendo', 'nes unf unif'],
  ['fds', 'Famicom Disk System', 'Nintendo', 1986, 'fds famicomdisksystem', 'fds'],
  ['snes', 'Super Nintendo', 'Nintendo', 1990, 'snes superfamicom sfc supernintendo supernes', 'sfc smc'],
  ['n64', 'Nintendo 64', 'Nintendo', 1996, 'n64 nintendo64', 'z64 n64 v64'],
  ['gamecube', 'GameCube', 'Nintendo', 2001, 'gamecube gc ngc', 'gcm rvz gcz'],
  ['wii', 'Wii', 'Nintendo', 2006, 'wii', 'wbfs wad'],
  ['gb', 'Game Boy', 'Nintendo', 1989, 'gb gameboy', 'gb'],
  ['gbc', 'Game Boy Color', 'Nintendo', 1998, 'gbc gameboycolor', 'gbc'],
  ['gba', 'Game Boy Advance', 'Nintendo', 2001, 'gba gameboyadvance', 'gba'],
  ['nds', 'Nintendo DS', 'Nintendo', 2004, 'nds ds nintendods', 'nds'],
  ['3ds', 'Nintendo 3DS', 'Nintendo', 2011, '3ds nintendo3ds', '3ds cia cci'],
  ['virtualboy', 'Virtual Boy', 'Nintendo', 1995, 'vb virtualboy', 'vb'],
  ['pokemini', 'Pokémon mini', 'Nintendo', 2001, 'pokemini pokemonmini', 'min'],
  ['sg1000', 'SG-1000', 'Sega', 1983, 'sg1000', 'sg'],
  ['mastersystem', 'Master System', 'Sega', 1985, 'mastersystem sms segamastersystem', 'sms'],
  ['megadrive', 'Mega Drive', 'Sega', 1988, 'megadrive genesis md segagenesis segamegadrive', 'md gen smd'],
  ['segacd', 'Mega-CD', 'Sega', 1991, 'segacd megacd', ''],
  ['sega32x', '32X', 'Sega', 1994, '32x sega32x', '32x'],
  ['gamegear', 'Game Gear', 'Sega', 1990, 'gamegear gg', 'gg'],
  ['saturn', 'Saturn', 'Sega', 1994, 'saturn segasaturn', ''],
  ['dreamcast', 'Dreamcast', 'Sega', 1998, 'dreamcast dc', 'gdi cdi'],
  ['psx', 'PlayStation', 'Sony', 1994, 'psx ps1 playstation playstation1', 'pbp'],
  ['ps2', 'PlayStation 2', 'Sony', 2000, 'ps2 playstation2', 'cso'],
  ['psp', 'PlayStation Portable', 'Sony', 2004, 'psp playstationportable', ''],
  ['xbox', 'Xbox', 'Microsoft', 2001, 'xbox', 'xiso'],
  ['pce', 'PC Engine', 'NEC', 1987, 'pce pcengine tg16 turbografx16', 'pce'],
  ['pcecd', 'PC Engine CD', 'NEC', 1988, 'pcecd pcenginecd tgcd turbografxcd', ''],
  ['pcfx', 'PC-FX', 'NEC', 1994, 'pcfx', ''],
  ['neogeo', 'Neo Geo', 'SNK', 1990, 'neogeo', ''],
  ['neogeocd', 'Neo Geo CD', 'SNK', 1994, 'neogeocd', ''],
  ['ngp', 'Neo Geo Pocket', 'SNK', 1998, 'ngp neogeopocket', 'ngp'],
  ['ngpc', 'Neo Geo Pocket Color', 'SNK', 1999, 'ngpc neogeopocketcolor', 'ngc'],
  ['wonderswan', 'WonderSwan', 'Bandai', 1999, 'wonderswan ws', 'ws'],
  ['wonderswancolor', 'WonderSwan Color', 'Bandai', 2000, 'wonderswancolor wsc', 'wsc'],
  ['atari2600', 'Atari 2600', 'Atari', 1977, 'atari2600 2600', 'a26'],
  ['atari5200', 'Atari 5200', 'Atari', 1982, 'atari5200 5200', 'a52'],
  ['atari7800', 'Atari 7800', 'Atari', 1986, 'atari7800 7800', 'a78'],
  ['lynx', 'Atari Lynx', 'Atari', 1989, 'lynx atarilynx', 'lnx'],
  ['jaguar', 'Atari Jaguar', 'Atari', 1993, 'jaguar atarijaguar', 'j64 jag'],
  ['atarist', 'Atari ST', 'Atari', 1985, 'atarist st', 'st stx'],
  ['atari800', 'Atari 8-bit', 'Atari', 1979, 'atari800 atari8bit', 'atr xex'],
  ['c64', 'Commodore 64', 'Commodore', 1982, 'c64 commodore64', 'd64 t64 prg crt'],
  ['vic20', 'VIC-20', 'Commodore', 1980, 'vic20', ''],
  ['amiga', 'Amiga', 'Commodore', 1985, 'amiga', 'adf ipf lha'],
  ['amigacd32', 'Amiga CD32', 'Commodore', 1993, 'amigacd32 cd32', ''],
  ['zxspectrum', 'ZX Spectrum', 'Sinclair', 1982, 'zxspectrum spectrum', 'tzx z80 sna'],
  ['amstradcpc', 'Amstrad CPC', 'Amstrad', 1984, 'amstradcpc cpc', 'cdt'],
  ['msx', 'MSX', 'ASCII', 1983, 'msx msx1', ''],
  ['msx2', 'MSX2', 'ASCII', 1985, 'msx2', 'mx2'],
  ['apple2', 'Apple II', 'Apple', 1977, 'apple2 appleii', 'woz po'],
  ['colecovision', 'ColecoVision', 'Coleco', 1982, 'colecovision coleco', 'col'],
  ['intellivision', 'Intellivision', 'Mattel', 1979, 'intellivision', 'int'],
  ['odyssey2', 'Odyssey²', 'Magnavox', 1978, 'odyssey2 videopac', ''],
  ['vectrex', 'Vectrex', 'GCE', 1982, 'vectrex', 'vec'],
  ['channelf', 'Channel F', 'Fairchild', 1976, 'channelf', 'chf'],
  ['3do', '3DO', 'Panasonic', 1993, '3do', ''],
  ['cdi', 'CD-i', 'Philips', 1990, 'cdi', ''],
  ['x68000', 'X68000', 'Sharp', 1987, 'x68000', 'xdf dim'],
  ['pc98', 'PC-98', 'NEC', 1982, 'pc98', 'hdi fdi'],
  ['arcade', 'Arcade', 'various', 1971, 'arcade mame fbneo finalburnneo cps1 cps2 cps3', ''],
  ['dos', 'DOS', 'Microsoft', 1981, 'dos msdos pc', 'dosz'],
  ['scummvm', 'ScummVM', 'various', 2001, 'scummvm', 'scummvm'],
  ['chip8', 'CHIP-8', 'RCA', 1977, 'chip8', 'ch8'],
  ['pico8', 'PICO-8', 'Lexaloffle', 2015, 'pico8', 'p8'],
];

const words = (text: string): string[] => text.split(' ').filter((word) => word !== '');

export const gamePlatforms: readonly GamePlatformSpec[] = LINES.map(([id, name, maker, year, folders, extensions]) => ({
  ...{ id, name, maker, year },
  folders: words(folders),
  extensions: words(extensions),
}));

/** Extensions that belong to no single platform; their folder decides. */
const SHARED = [...ARCHIVES, ...DISCS, 'bin', 'rom', 'img', 'dsk', 'tap', 'ccd', 'p8.png'];

/** Extensions of all files that can be games. */
export const gameExtensions: readonly string[] = [
  ...new Set([...gamePlatforms.flatMap(({ extensions }) => extensions), ...SHARED]),
];

const byFolder = new Map(
  gamePlatforms.flatMap((spec) => [...spec.folders, spec.id].map((name) => [name, spec] as const)),
);
const byExtension = new Map(gamePlatforms.flatMap((spec) => spec.extensions.map((name) => [name, spec] as const)));

/** The platform that a folder's name stands for, with or without its maker: `Nintendo - Game Boy`, `SNES`. */
export function platformOfFolder(folder: string): GamePlatformSpec | undefined {
  const parts = [folder, folder.slice(folder.lastIndexOf(' - ') + 1)];
  return parts
    .map((part) => byFolder.get(part.toLowerCase().replaceAll(/[^a-z0-9]/g, '')))
    .find((spec) => spec !== undefined);
}

/** The only platform with files of this extension. */
export function platformOfExtension(extension: string): GamePlatformSpec | undefined {
  return byExtension.get(extension);
}
