const RUN = /(?<!\d)((?:19|20)\d{2})([-_.]?)(0[1-9]|1[0-2])\2(0[1-9]|[12]\d|3[01])(?!\d)/;
const TIME = /^[-_ T.]{1,3}(?:at )?([01]\d|2[0-3])[-_.:]?([0-5]\d)[-_.:]?([0-5]\d)/;

/** The local time in the name of a picture: `IMG_20200131_120501`, `2020-01-31 12.05.01`, `IMG-20200131-WA0001` (noon). */
export function timeInName(stem: string): string | undefined {
  const day = RUN.exec(stem);
  if (!day) return undefined;
  const [hour, minute, second] = TIME.exec(stem.slice(day.index + day[0].length))?.slice(1) ?? ['12', '00', '00'];
  return `${day[1]}-${day[3]}-${day[4]}T${hour}:${minute}:${second}`;
}
