# gnuplot randread-async.gnuplot
set datafile separator "\t"
set terminal pngcairo noenhanced size 1000,600 font 'sans,11' linewidth 1.5
set logscale x 2
set xrange [3276.8:1.31072e+06]
set xtics ('4k' 4096, '16k' 16384, '1m' 1048576)
set xlabel 'block size'
set yrange [0:*]
set grid ytics linetype 1 linecolor rgb '#dddddd' linewidth 0.7
set border 3
set tics nomirror
set key outside right top

set output 'randread-async-iops-read.png'
set title 'randread async iops read'."\n".'left out: 1 failed'
set ylabel 'IOPS'
plot \
    'randread-async.dat' index 0 using 15:3:7:8 with yerrorlines linecolor rgb '#0072b2' dashtype 1 pointtype 7 title 'mirror', \
    'randread-async.dat' index 1 using 15:3:7:8 with yerrorlines linecolor rgb '#d55e00' dashtype 1 pointtype 5 title 'union[cache.files=off]', \
    'randread-async.dat' index 2 using 15:3:7:8 with yerrorlines linecolor rgb '#009e73' dashtype 1 pointtype 9 title 'union[cache.files=full]'

set output 'randread-async-bandwidth-mebibytes-read.png'
set title 'randread async bandwidth-mebibytes read'."\n".'left out: 1 failed'
set ylabel 'MiB/s'
plot \
    'randread-async.dat' index 0 using 15:5 with linespoints linecolor rgb '#0072b2' dashtype 1 pointtype 7 title 'mirror', \
    'randread-async.dat' index 0 using 15:5:11:12 with yerrorbars linecolor rgb '#0072b2' dashtype 1 pointtype 7 notitle, \
    'randread-async.dat' index 1 using 15:5:11:12 with yerrorlines linecolor rgb '#d55e00' dashtype 1 pointtype 5 title 'union[cache.files=off]', \
    'randread-async.dat' index 2 using 15:5:11:12 with yerrorlines linecolor rgb '#009e73' dashtype 1 pointtype 9 title 'union[cache.files=full]'
