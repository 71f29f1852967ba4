import { startHome } from './support/home.ts';
import { writeFileSync } from 'node:fs';
import { fixtures } from '../../hack/fixtures/index.ts';
const { real } = await fixtures();
const home = await startHome({ name: 'dbg', films: { 'Bikes (2016)/Bikes (2016).mp4': `${real}/video/bikes.mp4`, 'Big Buck Bunny (2008)/Big Buck Bunny (2008).mp4': `${real}/video/bbb_full_720p.mp4` } });
const films = await home.films(2);
writeFileSync('/tmp/h5/home.json', JSON.stringify({ url: home.url, headers: home.headers, ns: home.namespace, films: films.map(({id,title}) => ({id,title})) }));
console.log(home.namespace, home.url, films.map((f) => f.title));
