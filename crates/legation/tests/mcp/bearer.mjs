// Passes requests on with a token, for clients that cannot be given one. URL TOKEN; prints its own address.
import http from 'node:http';

const [url, token] = process.argv.slice(2);
const target = new URL(url);
const server = http.createServer((request, response) => {
  const headers = { ...request.headers, authorization: `Bearer ${token}` };
  if (headers.host === `localhost:${server.address().port}`) headers.host = target.host;
  const options = { host: target.hostname, port: target.port, path: request.url, method: request.method, headers };
  const asked = http.request(options, answer => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  asked.on('error', () => response.destroy());
  response.on('close', () => asked.destroy());
  request.pipe(asked);
});
server.listen(0, 'localhost', () => console.log(`http://localhost:${server.address().port}`));
