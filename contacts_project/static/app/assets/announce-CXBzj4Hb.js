import{y as o}from"./Icon-2tjMv2z2.js";const n=o("");function t(e){n.value="",setTimeout(()=>n.value=e,50)}export{t as a,n as b};
